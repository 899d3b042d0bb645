-- The games, with how many players each has.
SELECT games.id, games.title, games.isSortedByScore, count(players.id) AS playerCount
FROM games LEFT JOIN players ON players.gameID = games.id
GROUP BY games.id
ORDER BY games.title;

-- The players of a game, with their photos.
SELECT players.id, players.name, players.score, playerAssets.imageData
FROM players LEFT JOIN playerAssets ON playerAssets.playerID = players.id
WHERE players.gameID = :gameID
ORDER BY players.score DESC, players.name;

UPDATE players SET score = score + :points WHERE id = :id;

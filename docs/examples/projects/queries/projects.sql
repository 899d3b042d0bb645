SELECT id, name, accentColor FROM project ORDER BY name;
SELECT image FROM projectBanner WHERE projectID = ?1;
SELECT id, title, isDone FROM task WHERE projectID = ?1 ORDER BY isDone, title;
INSERT INTO projectBanner (projectID, image) VALUES (?1, ?2)
ON CONFLICT (projectID) DO UPDATE SET image = excluded.image;

SELECT id, number, body, savedAt FROM facts WHERE isArchived = 0 ORDER BY savedAt DESC;
SELECT id, number, body, savedAt FROM facts WHERE isArchived <> 0 ORDER BY savedAt DESC;
UPDATE facts SET isArchived = :isArchived WHERE id = :id;

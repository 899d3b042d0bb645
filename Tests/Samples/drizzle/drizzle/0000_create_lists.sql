CREATE TABLE lists (
  id INTEGER PRIMARY KEY,
  title TEXT NOT NULL
);--> statement-breakpoint
INSERT INTO lists (id, title) VALUES (1, 'Inbox');

DROP VIEW IF EXISTS list_titles;
CREATE VIEW list_titles AS SELECT title FROM lists;

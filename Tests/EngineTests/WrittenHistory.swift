import Testing

/// A history in one of the styles in which people and tools write SQL for SQLite.
struct WrittenHistory: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The SQL of the migrations, in order.
  let files: [String]

  init(_ description: String, _ files: String...) {
    testDescription = description
    self.files = files
  }

  static let all = [
    WrittenHistory(
      "the old table is renamed away, backticks in triggers, a sequence that begins at 500",
      """
      CREATE TABLE gardener (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        joined BIGINT NOT NULL DEFAULT (strftime('%s', 'now')),
        mail TEXT NOT NULL UNIQUE,
        role TEXT NOT NULL CHECK (role IN ('CHIEF', 'HAND')) DEFAULT 'HAND'
      );
      INSERT INTO sqlite_sequence (name, seq) VALUES ('gardener', 500);
      CREATE TABLE bed (
        id INTEGER PRIMARY KEY AUTOINCREMENT, gardener_id INTEGER NOT NULL,
        FOREIGN KEY(gardener_id) REFERENCES gardener(id) ON DELETE CASCADE, UNIQUE(gardener_id, id));
      CREATE TRIGGER IF NOT EXISTS `touch_gardener`
      AFTER
      UPDATE
        ON `gardener` FOR EACH ROW BEGIN
      UPDATE
        `gardener`
      SET
        joined = (strftime('%s', 'now'))
      WHERE
        rowid = old.rowid;
      END;
      """,
      """
      DROP TABLE IF EXISTS _gardener_old;

      ALTER TABLE gardener RENAME TO _gardener_old;

      -- gardener
      CREATE TABLE gardener (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        joined BIGINT NOT NULL DEFAULT (strftime('%s', 'now')),
        mail TEXT NOT NULL UNIQUE,
        role TEXT NOT NULL CHECK (role IN ('CHIEF', 'HAND', 'GUEST')) DEFAULT 'HAND'
      );
      INSERT INTO gardener SELECT * FROM _gardener_old;
      DROP TABLE IF EXISTS _gardener_old;
      """),
    WrittenHistory(
      "backticks, line marks in comments, a new table that takes the place of the old",
      "CREATE TABLE `seed` (\n\t`id` integer PRIMARY KEY NOT NULL,\n\t`label` text,\n\t`dry` integer DEFAULT true\n);\n"
        + "--> statement-breakpoint\nCREATE UNIQUE INDEX `seed_label_unique` ON `seed` (`label`);",
      "ALTER TABLE `seed` ADD `picked` integer DEFAULT (unixepoch()) NOT NULL;--> statement-breakpoint\n"
        + "ALTER TABLE `seed` ADD `note` text;",
      """
      PRAGMA foreign_keys=OFF;--> statement-breakpoint
      CREATE TABLE `__new_seed` (
      \t`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
      \t`label` text NOT NULL,
      \t`dry` integer DEFAULT true
      );
      --> statement-breakpoint
      INSERT INTO `__new_seed`("id", "label", "dry") SELECT "id", "label", "dry" FROM `seed`;--> statement-breakpoint
      DROP TABLE `seed`;--> statement-breakpoint
      ALTER TABLE `__new_seed` RENAME TO `seed`;--> statement-breakpoint
      PRAGMA foreign_keys=ON;--> statement-breakpoint
      CREATE UNIQUE INDEX `seed_label_unique` ON `seed` (`label`);
      """),
    WrittenHistory(
      "brackets, named constraints, types with numbers, long actions",
      """
      CREATE TABLE [Shed]
      (
          [ShedId] INTEGER  NOT NULL,
          [Name] NVARCHAR(160)  NOT NULL,
          [Width] NUMERIC(10,2)  NOT NULL,
          CONSTRAINT [PK_Shed] PRIMARY KEY  ([ShedId])
      );
      CREATE TABLE [Tool] (
          [ToolId] INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
          [ShedId] INTEGER  NOT NULL,
          [Made] DATETIME,
          FOREIGN KEY ([ShedId]) REFERENCES [Shed] ([ShedId])
                      ON DELETE NO ACTION ON UPDATE NO ACTION
      );
      CREATE INDEX [IFK_ToolShedId] ON [Tool] ([ShedId]);
      """,
      "ALTER TABLE [Tool] ADD [Lent] BIT NOT NULL DEFAULT 0",
      "ALTER TABLE Shed RENAME TO [Garden Shed];"),
    WrittenHistory(
      "double quotes everywhere, constraints named by a tool, tables called like keywords",
      """
      CREATE TABLE IF NOT EXISTS "__History" (
          "Id" TEXT NOT NULL CONSTRAINT "PK___History" PRIMARY KEY,
          "Version" TEXT NOT NULL
      );
      CREATE TABLE "Group" (
          "Id" INTEGER NOT NULL CONSTRAINT "PK_Group" PRIMARY KEY AUTOINCREMENT,
          "Order" TEXT COLLATE NOCASE NULL
      );
      CREATE TABLE "Plant" (
          "Id" TEXT NOT NULL CONSTRAINT "PK_Plant" PRIMARY KEY,
          "GroupId" INTEGER NOT NULL,
          "Parent" TEXT NULL,
          CONSTRAINT "FK_Plant_Group_GroupId" FOREIGN KEY ("GroupId") REFERENCES "Group" ("Id") ON DELETE CASCADE,
          CONSTRAINT "FK_Plant_Plant_Parent" FOREIGN KEY ("Parent") REFERENCES "Plant" ("Id") ON DELETE RESTRICT
      );
      CREATE INDEX "IX_Plant_GroupId" ON "Plant" ("GroupId");
      INSERT INTO "__History" ("Id", "Version") VALUES ('20250101_Init', '9.0.1');
      """,
      """
      PRAGMA defer_foreign_keys=ON;
      PRAGMA foreign_keys=OFF;
      CREATE TABLE "new_Plant" (
          "Id" TEXT NOT NULL PRIMARY KEY,
          "GroupId" INTEGER NOT NULL,
          "Planted" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
          CONSTRAINT "Plant_GroupId_fkey" FOREIGN KEY ("GroupId") REFERENCES "Group" ("Id") ON DELETE SET NULL ON UPDATE CASCADE
      );
      INSERT INTO "new_Plant" ("GroupId", "Id") SELECT "GroupId", "Id" FROM "Plant";
      DROP TABLE "Plant";
      ALTER TABLE "new_Plant" RENAME TO "Plant";
      PRAGMA foreign_keys=ON;
      PRAGMA defer_foreign_keys=OFF;
      """),
    WrittenHistory(
      "full-text tables with and without content, triggers that keep them, one of them wrong",
      """
      CREATE TABLE herbs (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT,
        plain TEXT GENERATED ALWAYS AS (lower(title)) STORED);
      CREATE VIRTUAL TABLE herbs_fts USING fts5(
        title,
        body UNINDEXED,
        content='herbs', content_rowid='id', tokenize='porter unicode61'
      );
      CREATE TRIGGER herbs_ai AFTER INSERT ON herbs BEGIN
        INSERT INTO herbs_fts(rowid, title, body) VALUES (new.id, new.title, new.body);
      END;
      CREATE TRIGGER herbs_au AFTER UPDATE ON herbs BEGIN
        INSERT INTO herbs_fts(herbs_fts, rowid, title, body) VALUES('delete', old.id, old.title, old.body);
        INSERT INTO herbs_fts(rowid, title, body) VALUES (new.id, new.title, new.body);
      END;
      CREATE VIRTUAL TABLE words USING fts5(w, content='', tokenize="trigram");
      """,
      """
      INSERT INTO herbs (title, body) VALUES ('Sage', 'grey'), ('Thyme', 'small');
      CREATE TRIGGER herbs_ad AFTER DELETE ON herbs BEGIN
        INSERT INTO herbs_fts(no_such_fts, rowid, title) VALUES('delete', old.id, old.title);
      END;
      """,
      "ALTER TABLE herbs ADD COLUMN seen_at integer; CREATE INDEX herbs_seen ON herbs(seen_at) WHERE seen_at IS NOT NULL"
    ),
    WrittenHistory(
      "the way over a temporary table, views on views, what they rename",
      """
      create table plot (id text primary key, name text unique, area real default .5, gone integer default 0);
      create table sowing (id text primary key, plot, what, day);
      create view v_alive as select p.id as id, case when p.gone = 0 then p.name else null end as name, ifnull(p.area, 0) as area
        from plot p where p.gone is not 1;
      create view v_sown (plot_name, day) as select v.name, s.day from v_alive v left join sowing s on s.plot = v.id -- all of them
      ;
      """,
      """
      CREATE TEMPORARY TABLE plot_tmp
         (id TEXT PRIMARY KEY,
          name TEXT UNIQUE,
          area REAL,
          gone INTEGER DEFAULT 0);
      INSERT INTO plot_tmp SELECT * FROM plot;
      DROP TABLE plot;
      CREATE TABLE plot
         (id TEXT PRIMARY KEY,
          name TEXT,
          area REAL,
          gone INTEGER DEFAULT 0);
      INSERT INTO plot SELECT * FROM plot_tmp;
      DROP TABLE plot_tmp;
      """,
      "ALTER TABLE sowing RENAME COLUMN what TO seed;"),
    WrittenHistory(
      "a writable view, triggers with CASE and RAISE, a text in double quotes",
      """
      CREATE TABLE harvest(a INTEGER, b TEXT DEFAULT "", kind TEXT NOT NULL DEFAULT "fruit");
      CREATE TABLE journal(line, at DATETIME DEFAULT CURRENT_TIMESTAMP);
      INSERT INTO harvest VALUES (1, 'one', 'fruit'), (2, 'END; two', 'root');
      CREATE VIEW sums AS SELECT sum(a) AS a, max(b) AS b FROM harvest GROUP BY harvest.a HAVING b > "a";
      CREATE TRIGGER sums_update INSTEAD OF UPDATE ON sums BEGIN
        INSERT INTO journal(line) VALUES(old.a || '; ' || CASE WHEN new.b IS NULL THEN 'none' ELSE "some" END);
      END;
      CREATE TRIGGER guard BEFORE INSERT ON harvest WHEN new.a < 0 BEGIN
        SELECT CASE WHEN (new.a = -1) THEN RAISE(ROLLBACK, 'no; never')
                    WHEN (new.a = -2) THEN RAISE(IGNORE)
                    ELSE RAISE(ABORT, 'END') END;
      END
      """,
      "ALTER TABLE harvest ADD COLUMN weight NUMERIC /* in grams */ DEFAULT 0 CHECK (weight >= 0)"),
    WrittenHistory(
      "strict tables, tables without rowid, documents, keys of several columns",
      """
      CREATE TABLE device (idx INTEGER NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE COLLATE BINARY) STRICT;
      CREATE TABLE file (
          device_idx INTEGER NOT NULL,
          name TEXT NOT NULL,
          sequence INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
          flags INTEGER NOT NULL DEFAULT 0,
          extra ANY,
          FOREIGN KEY(device_idx) REFERENCES device(idx) ON DELETE CASCADE
      ) STRICT;
      CREATE UNIQUE INDEX file_name ON file(device_idx, name COLLATE NOCASE DESC);
      CREATE TABLE kv (key TEXT NOT NULL, ns TEXT NOT NULL, value BLOB, doc TEXT CHECK (doc IS NULL OR json_valid(doc)),
        PRIMARY KEY (ns, key DESC)) STRICT, WITHOUT ROWID
      """,
      """
      CREATE TABLE counts (kind INTEGER NOT NULL, n INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(kind)) WITHOUT ROWID;
      CREATE TRIGGER file_insert AFTER INSERT ON file
      BEGIN
          INSERT INTO counts (kind, n) VALUES (NEW.flags & 7, 1)
              ON CONFLICT DO UPDATE SET n = n + 1;
      END
      ;
      ;;
      DROP INDEX IF EXISTS file_name;
      CREATE INDEX file_deleted ON file (json_extract('{"a": 1}', '$.a'), name) WHERE flags & 1 != 0;
      """),
    WrittenHistory(
      "line ends of another system, a column that goes, marks of a tool, no last semicolon",
      "-- +migrate Up\r\nCREATE TABLE lists (\r\n  id INTEGER PRIMARY KEY,\r\n  name TEXT NOT NULL, -- shown\r\n  old TEXT\r\n);\r\n",
      "-- +migrate Up\r\nCREATE TABLE items (\r\n  id INTEGER PRIMARY KEY AUTOINCREMENT,\r\n  list_id INTEGER NOT NULL,\r\n"
        + "  done BOOLEAN NOT NULL DEFAULT FALSE,\r\n  CONSTRAINT fk_lists\r\n    FOREIGN KEY (list_id)\r\n"
        + "    REFERENCES lists(id)\r\n    ON DELETE CASCADE\r\n);\r\nINSERT INTO lists (name) VALUES ('Main'' list');",
      "ALTER TABLE lists DROP COLUMN old", "SELECT 1;\n-- nothing else\n"),
    WrittenHistory(
      "shapes in a plane, conflict clauses, a deferred key, a table of its own called new_t",
      """
      CREATE TABLE new_t (a INTEGER PRIMARY KEY DESC, b UNIQUE ON CONFLICT IGNORE, t_old);
      CREATE TABLE t (a INT, b INT NOT NULL ON CONFLICT REPLACE DEFAULT 3, up INT REFERENCES new_t(a)
        MATCH SIMPLE DEFERRABLE INITIALLY DEFERRED, PRIMARY KEY (b, a) ON CONFLICT ABORT, CHECK (t.b > 0)) ;
      CREATE VIRTUAL TABLE places USING rtree(id, left, right, +note TEXT);
      CREATE VIEW t_new AS WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c WHERE x < 3)
        SELECT x, (SELECT count(*) FROM t WHERE t.a = c.x) AS n FROM c;
      """,
      "CREATE TRIGGER spread AFTER DELETE ON new_t BEGIN DELETE FROM t WHERE up = old.a; UPDATE t SET b = b; END;",
      "CREATE INDEX odd ON t(\"nosuch\"); CREATE INDEX \"t a\" ON t (a COLLATE RTRIM DESC, abs(b))"),
  ]
}

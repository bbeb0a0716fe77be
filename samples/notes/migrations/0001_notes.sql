-- Notes, their attachments, and an index of their words.

CREATE TABLE notes (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  -- Who may see the note: notes/owner.rs.
  owner TEXT NOT NULL,
  title TEXT NOT NULL,
  text TEXT NOT NULL,
  created_ms INTEGER NOT NULL
);
CREATE INDEX notes_of_owner ON notes (owner, created_ms);

CREATE TABLE attachments (
  -- The object in R2 is attachments/<id>.
  id TEXT NOT NULL PRIMARY KEY,
  note INTEGER NOT NULL REFERENCES notes (number) ON DELETE CASCADE,
  name TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  size INTEGER NOT NULL
);
CREATE INDEX attachments_of_note ON attachments (note);

-- The index refers to the texts in notes instead of copying them. Triggers keep it up to date.
CREATE VIRTUAL TABLE words USING fts5 (title, text, content = 'notes', content_rowid = 'number', tokenize = 'porter unicode61');
CREATE TRIGGER words_of_new_note AFTER INSERT ON notes BEGIN
  INSERT INTO words (rowid, title, text) VALUES (new.number, new.title, new.text);
END;
CREATE TRIGGER words_of_deleted_note AFTER DELETE ON notes BEGIN
  INSERT INTO words (words, rowid, title, text) VALUES ('delete', old.number, old.title, old.text);
END;

#include "CReader.h"

#include <sqlite3.h>
#include <string.h>

enum { pageCountOffset = 28, pageCountSize = 4 };

typedef struct {
  sqlite3_file base;
  /// The default VFS's own file.
  sqlite3_file *file;
  /// 0: as the header says.
  sqlite3_int64 pages;
} Reader;

static sqlite3_file *under(sqlite3_file *file) { return ((Reader *)file)->file; }

static int closeFile(sqlite3_file *file) {
  int code = under(file)->pMethods->xClose(under(file));
  sqlite3_free(under(file));
  return code;
}

static int readFile(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
  int code = under(file)->pMethods->xRead(under(file), buffer, count, offset);
  sqlite3_int64 pages = ((Reader *)file)->pages;
  if (code != SQLITE_OK || pages == 0) return code;
  for (int index = 0; index < pageCountSize; index++) {
    sqlite3_int64 place = pageCountOffset + index - offset;
    if (place >= 0 && place < count)
      ((unsigned char *)buffer)[place] = (unsigned char)(pages >> 8 * (pageCountSize - 1 - index));
  }
  return code;
}

static int writeFile(sqlite3_file *file, const void *buffer, int count, sqlite3_int64 offset) {
  return under(file)->pMethods->xWrite(under(file), buffer, count, offset);
}

static int truncateFile(sqlite3_file *file, sqlite3_int64 size) {
  return under(file)->pMethods->xTruncate(under(file), size);
}

static int syncFile(sqlite3_file *file, int flags) {
  return under(file)->pMethods->xSync(under(file), flags);
}

static int sizeOfFile(sqlite3_file *file, sqlite3_int64 *size) {
  return under(file)->pMethods->xFileSize(under(file), size);
}

static int lockFile(sqlite3_file *file, int level) {
  return under(file)->pMethods->xLock(under(file), level);
}

static int unlockFile(sqlite3_file *file, int level) {
  return under(file)->pMethods->xUnlock(under(file), level);
}

static int checkLock(sqlite3_file *file, int *isReserved) {
  return under(file)->pMethods->xCheckReservedLock(under(file), isReserved);
}

static int controlFile(sqlite3_file *file, int operation, void *argument) {
  return under(file)->pMethods->xFileControl(under(file), operation, argument);
}

static int sectorSize(sqlite3_file *file) {
  return under(file)->pMethods->xSectorSize(under(file));
}

static int characteristics(sqlite3_file *file) {
  return under(file)->pMethods->xDeviceCharacteristics(under(file));
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = closeFile,
    .xRead = readFile,
    .xWrite = writeFile,
    .xTruncate = truncateFile,
    .xSync = syncFile,
    .xFileSize = sizeOfFile,
    .xLock = lockFile,
    .xUnlock = unlockFile,
    .xCheckReservedLock = checkLock,
    .xFileControl = controlFile,
    .xSectorSize = sectorSize,
    .xDeviceCharacteristics = characteristics,
};

static sqlite3_vfs *standard(void) { return sqlite3_vfs_find(0); }

static int openFile(
    sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flagsGiven) {
  (void)vfs;
  Reader *reader = (Reader *)file;
  sqlite3_vfs *real = standard();
  memset(reader, 0, sizeof *reader);
  reader->file = sqlite3_malloc(real->szOsFile);
  if (!reader->file) return SQLITE_NOMEM;
  memset(reader->file, 0, real->szOsFile);
  int code = real->xOpen(real, name, reader->file, flags, flagsGiven);
  if (flags & SQLITE_OPEN_MAIN_DB) reader->pages = sqlite3_uri_int64(name, "pages", 0);
  if (reader->file->pMethods)
    reader->base.pMethods = &methods;
  else
    sqlite3_free(reader->file);
  return code;
}

static int deleteFile(sqlite3_vfs *vfs, const char *name, int syncsFolder) {
  (void)vfs;
  return standard()->xDelete(standard(), name, syncsFolder);
}

static int accessFile(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  (void)vfs;
  return standard()->xAccess(standard(), name, flags, result);
}

static int fullPath(sqlite3_vfs *vfs, const char *name, int size, char *result) {
  (void)vfs;
  return standard()->xFullPathname(standard(), name, size, result);
}

static int randomness(sqlite3_vfs *vfs, int size, char *result) {
  (void)vfs;
  return standard()->xRandomness(standard(), size, result);
}

static int sleepFor(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  return standard()->xSleep(standard(), microseconds);
}

static int currentTime(sqlite3_vfs *vfs, double *result) {
  (void)vfs;
  return standard()->xCurrentTime(standard(), result);
}

static int lastError(sqlite3_vfs *vfs, int size, char *result) {
  (void)vfs;
  return standard()->xGetLastError(standard(), size, result);
}

static sqlite3_vfs reader = {
    .iVersion = 1,
    .szOsFile = sizeof(Reader),
    .zName = "schemactl-reader",
    .xOpen = openFile,
    .xDelete = deleteFile,
    .xAccess = accessFile,
    .xFullPathname = fullPath,
    .xRandomness = randomness,
    .xSleep = sleepFor,
    .xCurrentTime = currentTime,
    .xGetLastError = lastError,
};

int schemactl_register_reader(void) {
  if (sqlite3_vfs_find(reader.zName)) return SQLITE_OK;
  int code = sqlite3_initialize();
  if (code != SQLITE_OK) return code;
  reader.mxPathname = standard()->mxPathname;
  return sqlite3_vfs_register(&reader, 0);
}

/**
 * Keeps the temporary files of this process and of its programs on the disk. `npm test` keeps those of
 * other tests in memory, which the clones and images of the packages would fill.
 */
export function keepFilesOnDisk(): void {
  const folder = process.env['TEST_DISK_FOLDER']
  if (folder !== undefined) process.env['TMPDIR'] = folder
}

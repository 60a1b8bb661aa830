import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { imageParams, type TestGallery } from './test-gallery.ts'

/** Creates a data folder, and another folder for the backup and the deletion records. */
export async function createFolders() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-restore-'))
  const elsewhere = await mkdtemp(path.join(tmpdir(), 'facegate-elsewhere-'))
  return {
    dataDir,
    copy: path.join(elsewhere, 'copy.db'),
    records: path.join(elsewhere, 'deletions.jsonl'),
    [Symbol.asyncDispose]: async () => {
      await rm(dataDir, { recursive: true })
      await rm(elsewhere, { recursive: true })
    },
  }
}

export async function enroll(gallery: TestGallery, ...names: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const name of names) {
    const params = { ...imageParams(name), externalId: `id-${name}`, groups: ['all'] }
    ids.push((await gallery.value('svc.enroll', params)).subjectId)
  }
  return ids
}

export async function isFound(gallery: TestGallery, name: string): Promise<boolean> {
  return (await gallery.value('svc.identify', imageParams(name))).matched
}

/** Deletes the database, but not its folder and the master key. */
export async function deleteDatabaseFiles(dataDir: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm'])
    await rm(path.join(dataDir, `facegate.db${suffix}`), { force: true })
}

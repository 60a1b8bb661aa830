import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openKeyring, unwrapGalleryKey } from '../../../src/gallery/keys/keyring.ts'
import { decryptCrop } from '../../../src/gallery/keys/subject-encryption.ts'
import { decryptTemplate } from '../../../src/gallery/keys/template-encryption.ts'
import { decrypt } from '../../../src/lib/crypto/aes-gcm.ts'
import type { Store } from '../../../src/store/database.ts'
import type { GalleryKeyRow, SubjectRow } from '../../../src/store/gallery-schema.ts'
import { type TestGallery, imageParams } from './test-gallery.ts'

/** The rows of a database that contain keys or encrypted faces, as an attacker would copy them. */
export type DatabaseCopy = {
  readonly galleryKeys: readonly GalleryKeyRow[]
  readonly subjects: readonly Pick<SubjectRow, 'subjectId' | 'wrappedKey'>[]
  readonly templates: readonly EncryptedFace[]
  readonly crops: readonly EncryptedFace[]
  /** The templates of faces that matched a subject, with the ids of their rows as the ids of faces. */
  readonly matches: readonly EncryptedFace[]
  /** The crops of near misses, with the ids of their rows as the ids of faces. */
  readonly nearMisses: readonly EncryptedFace[]
}

/** An encrypted template or crop with the ids that it is bound to. */
type EncryptedFace = {
  readonly accountId: string
  readonly galleryId: string
  readonly subjectId: string
  readonly faceId: string
  /** Only templates have a model. */
  readonly modelId?: string
  readonly ciphertext: Uint8Array
}

export async function copyDatabase({ db }: Pick<Store, 'db'>): Promise<DatabaseCopy> {
  const faces = db
    .selectFrom('faces')
    .innerJoin('galleries', 'galleries.galleryId', 'faces.galleryId')
    .select(['accountId', 'faces.galleryId', 'subjectId', 'faces.faceId'])
  return {
    galleryKeys: await db.selectFrom('galleryKeys').selectAll().execute(),
    subjects: await db.selectFrom('subjects').select(['subjectId', 'wrappedKey']).execute(),
    templates: await faces
      .innerJoin('templates', 'templates.faceId', 'faces.faceId')
      .select(['modelId', 'ciphertext'])
      .execute(),
    crops: await faces
      .innerJoin('crops', 'crops.faceId', 'faces.faceId')
      .select('ciphertext')
      .execute(),
    matches: await db
      .selectFrom('matchVerdicts as v')
      .innerJoin('matchedSubjects as m', 'm.matchedId', 'v.matchedId')
      .innerJoin('galleries', 'galleries.galleryId', 'v.galleryId')
      .select(['accountId', 'v.galleryId', 'subjectId', 'v.verdictId as faceId', 'modelId'])
      .select('ciphertext')
      .where('ciphertext', 'is not', null)
      .$narrowType<{ ciphertext: Uint8Array }>()
      .execute(),
    nearMisses: await db
      .selectFrom('nearMissCrops as crop')
      .innerJoin('subjects', 'subjects.subjectId', 'crop.subjectId')
      .innerJoin('galleries', 'galleries.galleryId', 'subjects.galleryId')
      .select(['accountId', 'subjects.galleryId', 'crop.subjectId', 'cropId as faceId'])
      .select('ciphertext')
      .execute(),
  }
}

/**
 * Returns all subject keys that can be unwrapped with the master keys of a file: each wrapped subject
 * key of the copies is tried with each gallery key of the copies.
 */
export function unwrapAllKeys(copies: readonly DatabaseCopy[], masterKeyFile: string): Buffer[] {
  const keyring = openKeyring(masterKeyFile)
  const galleryKeys = copies.flatMap((copy) =>
    copy.galleryKeys.flatMap((row) => attempt(() => unwrapGalleryKey(keyring, row))),
  )
  return copies.flatMap(({ subjects }) =>
    subjects.flatMap(({ subjectId, wrappedKey }) =>
      galleryKeys.flatMap((galleryKey) =>
        attempt(() => decrypt(galleryKey, wrappedKey, `subject-key|${subjectId}`)),
      ),
    ),
  )
}

/** Returns whether any of the keys decrypts a template or a crop. */
export function isReadable(face: EncryptedFace, keys: readonly Buffer[]): boolean {
  const { modelId } = face
  return keys.some(
    (key) =>
      attempt(() =>
        modelId === undefined
          ? decryptCrop(key, face, face.ciphertext)
          : decryptTemplate(key, { ...face, modelId }, face.ciphertext),
      ).length > 0,
  )
}

function attempt<T>(open: () => T): T[] {
  try {
    return [open()]
  } catch {
    return []
  }
}

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

export async function enroll(
  gallery: Pick<TestGallery, 'value'>,
  ...names: readonly string[]
): Promise<string[]> {
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

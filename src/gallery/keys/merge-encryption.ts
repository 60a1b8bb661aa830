import { decrypt, encrypt } from '../../lib/crypto/aes-gcm.ts'
import type { SubjectMergeRow, SubjectRow } from '../../store/gallery-schema.ts'

type MergeBinding = Pick<SubjectMergeRow, 'mergeId' | 'galleryId' | 'subjectId'> & {
  readonly accountId: string
}

/** What a merge deleted or changed. */
export type MergedState = Pick<
  SubjectRow,
  'projectId' | 'externalId' | 'displayName' | 'attributes' | 'expiresAtUtc'
> & {
  readonly groups: readonly string[]
  /** The groups that the remaining subject received. */
  readonly addedGroups: readonly string[]
  readonly faceIds: readonly string[]
}

/** Encrypts what a merge deletes with the key of the remaining subject. */
export function encryptMerge(key: Buffer, binding: MergeBinding, state: MergedState): Buffer {
  return encrypt(key, Buffer.from(JSON.stringify(state)), associatedData(binding))
}

/** @throws Error if the ciphertext was changed or is bound to other ids. */
export function decryptMerge(key: Buffer, binding: MergeBinding, bytes: Uint8Array): MergedState {
  // Only `encryptMerge` creates a ciphertext with these ids.
  return JSON.parse(decrypt(key, bytes, associatedData(binding)).toString()) as MergedState
}

/** Begins with the kind, so that no other ciphertext of the subject can replace it. */
function associatedData({ accountId, galleryId, subjectId, mergeId }: MergeBinding): string {
  return ['merge', accountId, galleryId, subjectId, mergeId].join('|')
}

import type { Clock } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'
import type { Tx } from '../../store/database.ts'
import type { NearMissCropRow, SubjectRow } from '../../store/gallery-schema.ts'
import { addNearMissCrop, lockNearMissTime } from '../../store/gallery/feedback/near-miss-crops.ts'
import type { SubjectKeys } from '../keys/keyring.ts'
import { encryptCrop } from '../keys/subject-encryption.ts'

/** A face that nearly matched a subject, as the crop of a call. */
type NearMiss = Pick<NearMissCropRow, 'projectId' | 'requestId'> & {
  readonly accountId: string
  readonly subject: SubjectRow
  readonly jpeg: Buffer
}

type NearMissOptions = { readonly keys: SubjectKeys; readonly clock: Clock }

/**
 * Returns a function that stores the crop of a near miss, if the project still keeps them. The gallery
 * must be locked.
 */
export function createStoreNearMiss({ keys, clock }: NearMissOptions) {
  return async (tx: Tx, { accountId, projectId, requestId, subject, jpeg }: NearMiss) => {
    const keptMs = await lockNearMissTime(tx, projectId, 'shared')
    if (keptMs === 0) return
    const { subjectId, galleryId } = subject
    const cropId = newId()
    const binding = { accountId, galleryId, subjectId, faceId: cropId }
    const ciphertext = encryptCrop(await keys.unwrap(tx, subject), binding, jpeg)
    const storedAtMs = clock()
    const times = { storedAtMs, expiresAtMs: storedAtMs + keptMs }
    await addNearMissCrop(tx, { projectId, requestId, cropId, subjectId, ciphertext, ...times })
  }
}

import { endianness } from 'node:os'
import { decrypt, encrypt } from '../../lib/crypto/aes-gcm.ts'
import { HttpError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { ReadTx } from '../../store/database.ts'
import type { FaceRow } from '../../store/gallery-schema.ts'
import { findGallery } from '../../store/gallery/galleries.ts'
import type { StoredTemplate } from '../../store/gallery/templates.ts'
import type { Template } from '../../vision/embed/template.ts'
import { assertTemplateVector } from '../calibration/similarity.ts'
import type { SubjectKeys } from './keyring.ts'

/** The ids that a template is bound to. A ciphertext cannot be decrypted with other ids. */
export type TemplateBinding = Pick<FaceRow, 'galleryId' | 'subjectId' | 'faceId'> & {
  readonly modelId: string
  readonly accountId: string
}

const densityBytes = 8

/**
 * Encrypts a template with its subject's key: density (float64), then the vector (float32).
 *
 * @throws AssertionError if a search could not load it: one such template would end all searches.
 */
export function encryptTemplate(
  key: Buffer,
  binding: TemplateBinding,
  { vector, density }: Template,
): Buffer {
  assertTemplateVector({ vector, density })
  const plaintext = Buffer.alloc(densityBytes + vector.byteLength)
  plaintext.writeDoubleLE(density)
  for (const [index, value] of vector.entries())
    plaintext.writeFloatLE(value, densityBytes + index * 4)
  try {
    return encrypt(key, plaintext, templateAssociatedData(binding))
  } finally {
    plaintext.fill(0)
  }
}

/** @throws Error if the ciphertext was changed or is bound to other ids. */
export function decryptTemplate(
  key: Buffer,
  binding: TemplateBinding,
  ciphertext: Uint8Array,
): Template {
  const plaintext = decrypt(key, ciphertext, templateAssociatedData(binding))
  const density = plaintext.readDoubleLE(0)
  plaintext.fill(0, 0, densityBytes)
  return { modelId: binding.modelId, vector: readVector(plaintext), density }
}

/** Returns a view of the vector. Node creates a separate buffer for each plaintext. */
function readVector(plaintext: Buffer): Float32Array {
  const { buffer, byteOffset, length } = plaintext.subarray(densityBytes)
  if (endianness() === 'LE' && byteOffset % 4 === 0)
    return new Float32Array(buffer, byteOffset, Math.floor(length / 4))
  const vector = new Float32Array(Math.floor(length / 4))
  for (let index = 0; index < vector.length; index++)
    vector[index] = plaintext.readFloatLE(densityBytes + index * 4)
  plaintext.fill(0)
  return vector
}

function templateAssociatedData(binding: TemplateBinding): string {
  const { accountId, galleryId, subjectId, faceId, modelId } = binding
  return `${accountId}|${galleryId}|${subjectId}|${faceId}|${modelId}`
}

/**
 * Decrypts a stored template. Returns undefined if its ciphertext was changed or moved.
 *
 * @throws HttpError 503 if the database or the master key cannot be read now.
 */
export type DecryptStoredTemplate = (
  reading: ReadTx,
  row: StoredTemplate,
) => Promise<Template | undefined>

/** The function logs an alert for each template that cannot be decrypted. */
export function createDecryptStoredTemplate(
  keys: SubjectKeys,
  log: Pick<Log, 'error'>,
): DecryptStoredTemplate {
  /** Gallery → its account, which never changes. Cached, because a search decrypts many templates. */
  const accountIds = new Map<string, string>()
  const findAccountId = async (reading: ReadTx, galleryId: string): Promise<string> => {
    const cached = accountIds.get(galleryId)
    if (cached !== undefined) return cached
    const accountId = (await findGallery(reading, galleryId))?.accountId ?? ''
    if (accountId) accountIds.set(galleryId, accountId)
    return accountId
  }
  return async (reading, row) => {
    const { galleryId, subjectId, faceId, modelId } = row
    try {
      const accountId = await findAccountId(reading, galleryId)
      const key = await keys.unwrap(reading, row)
      try {
        return decryptTemplate(
          key,
          { galleryId, subjectId, faceId, modelId, accountId },
          row.ciphertext,
        )
      } finally {
        key.fill(0)
      }
    } catch (error) {
      if (error instanceof HttpError) throw error
      const alert = { alert: 'template-tampered', galleryId, subjectId, faceId }
      log.error(
        { ...alert, err: error },
        'a stored template cannot be decrypted; it is not matched',
      )
      return undefined
    }
  }
}

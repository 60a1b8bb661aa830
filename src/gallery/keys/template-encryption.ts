import { decrypt, encrypt } from '../../lib/crypto/aes-gcm.ts'
import type { FaceRow } from '../../store/schema.ts'
import type { Template } from '../../vision/image-analysis.ts'

/** Whose a template is. A ciphertext that is moved anywhere else does not open there. */
export type TemplateBinding = Pick<FaceRow, 'galleryId' | 'subjectId' | 'faceId'> & {
  readonly modelId: string
  readonly tenantId: string
}

const densityBytes = 8

/** Encrypts a template under its subject's key: density (float64), then the vector (float32). */
export function encryptTemplate(key: Buffer, place: TemplateBinding, template: Template): Buffer {
  const { vector, density } = template
  const plain = Buffer.alloc(densityBytes + vector.byteLength)
  plain.writeDoubleLE(density)
  for (const [at, value] of vector.entries()) plain.writeFloatLE(value, densityBytes + at * 4)
  try {
    return encrypt(key, plain, templateAssociatedData(place))
  } finally {
    plain.fill(0)
  }
}

/** @throws Error when the ciphertext was changed or is not of this place. */
export function decryptTemplate(key: Buffer, place: TemplateBinding, sealed: Uint8Array): Template {
  const plain = decrypt(key, sealed, templateAssociatedData(place))
  const vector = new Float32Array((plain.length - densityBytes) / 4)
  for (const at of vector.keys()) vector[at] = plain.readFloatLE(densityBytes + at * 4)
  const density = plain.readDoubleLE()
  plain.fill(0)
  return { modelId: place.modelId, vector, density }
}

function templateAssociatedData({
  tenantId,
  galleryId,
  subjectId,
  faceId,
  modelId,
}: TemplateBinding): string {
  return [tenantId, galleryId, subjectId, faceId, modelId].join('|')
}

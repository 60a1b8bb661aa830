import { findSubjectTemplates } from '../../../store/gallery/templates.ts'
import {
  replaceVectors,
  type NewVector,
  type VectorSubjects,
} from '../../../store/gallery/vectors.ts'
import type { Tx } from '../../../store/database.ts'
import type { DecryptStoredTemplate } from '../../keys/decrypt-stored-template.ts'
import { mergeFaces, type FaceTemplate } from '../../match.ts'
import { augmentRow } from './augmented-vector.ts'

/**
 * Stores the vectors of subjects, one per model of their templates, in place of all that they have. It
 * must run in the transaction that changes the templates, with the gallery locked.
 *
 * A vector contains all faces with a template of its model, so that it is the same for servers with
 * other models. If none of these templates can be decrypted, it has no coordinates and matches nothing.
 */
export async function storeVectors(
  tx: Tx,
  subjects: VectorSubjects,
  decryptStored: DecryptStoredTemplate,
): Promise<void> {
  const stored = await findSubjectTemplates(tx, subjects.subjectIds)
  const sorted = stored.toSorted((a, b) => (a.faceId < b.faceId ? -1 : 1))
  const vectors: NewVector[] = []
  for (const [subjectId, own] of Map.groupBy(sorted, (row) => row.subjectId))
    for (const [modelId, ofModel] of Map.groupBy(own, (row) => row.modelId)) {
      const faces: FaceTemplate[] = []
      for (const row of ofModel) {
        const template = await decryptStored(tx, row)
        if (template) faces.push({ faceId: row.faceId, ...template })
      }
      const [merged] = mergeFaces(faces)
      const { float16 = null, slack = null } = merged ? augmentRow(merged) : {}
      vectors.push({ subjectId, modelId, slack, embedding: float16 })
      for (const { vector } of faces) vector.fill(0)
    }
  await replaceVectors(tx, subjects, vectors)
}

import { mergeTemplates, spreadShares } from '../lib/density/merge-templates.ts'
import type { StoredTemplate } from '../store/gallery/templates.ts'
import type { ReadTx } from '../store/database.ts'
import type { Template } from '../vision/embed/template.ts'
import type { Calibrations } from './calibration/calibrations.ts'
import { correctedScore } from './calibration/similarity.ts'
import type { DecryptStoredTemplate } from './keys/decrypt-stored-template.ts'
import { selectTemplate } from './select-template.ts'

/** The template by which a face is compared. */
export type FaceTemplate = Template & { readonly faceId: string }

/**
 * The faces of a subject that are compared by one model, merged into one template. A similarity is
 * therefore the result of one comparison, however many faces the subject has.
 */
export type SubjectTemplate = Template & {
  /** The number of faces. */
  readonly faces: number
  /** The face, if it is the only one: the template is equal to its own. */
  readonly faceId?: string | undefined
}

export type ReadFacesOptions = {
  readonly decryptStored: DecryptStoredTemplate
  readonly models: Pick<Calibrations, 'activeModelId' | 'formerModelIds'>
  /** Only faces that are compared by these models; by default, all. */
  readonly modelIds?: readonly string[]
}

/**
 * Decrypts the templates by which the faces of a subject are compared, in the order of the face ids.
 * Templates that cannot be decrypted are left out.
 *
 * @param stored the templates of the subject, of all models.
 */
export async function readFaceTemplates(
  reading: ReadTx,
  stored: readonly StoredTemplate[],
  { decryptStored, models, modelIds }: ReadFacesOptions,
): Promise<FaceTemplate[]> {
  const faces: FaceTemplate[] = []
  for (const row of selectTemplates(stored, models)) {
    if (modelIds && !modelIds.includes(row.modelId)) continue
    const template = await decryptStored(reading, row)
    if (template) faces.push({ faceId: row.faceId, ...template })
  }
  return faces
}

/** Selects the templates by which faces are compared, in the order of the face ids. */
export function selectTemplates<Stored extends Pick<StoredTemplate, 'faceId' | 'modelId'>>(
  stored: readonly Stored[],
  models: ReadFacesOptions['models'],
): Stored[] {
  const byFace = Map.groupBy(stored, ({ faceId }) => faceId)
  const selected = [...byFace.values()].flatMap((own) => selectTemplate(own, models) ?? [])
  return selected.sort((a, b) => (a.faceId < b.faceId ? -1 : 1))
}

/** Merges the faces of a subject. @returns one template per model. */
export function mergeFaces(faces: readonly FaceTemplate[]): SubjectTemplate[] {
  return [...Map.groupBy(faces, ({ modelId }) => modelId).values()].map((ofModel) => ({
    ...mergeTemplates(ofModel, spreadShares.subject),
    faces: ofModel.length,
    ...(ofModel.length === 1 && { faceId: ofModel[0]?.faceId }),
  }))
}

/** Returns the face of the probe's model that is most similar to the probe. */
export function nearestFace(
  faces: readonly FaceTemplate[],
  probe: Template,
): FaceTemplate | undefined {
  const ofModel = faces.filter(({ modelId }) => modelId === probe.modelId)
  const scores = ofModel.map((face) => correctedScore(probe, face))
  return ofModel[scores.indexOf(Math.max(...scores))]
}

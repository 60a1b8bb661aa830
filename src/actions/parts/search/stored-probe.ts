import { mergeTemplates, spreadShares } from '../../../lib/density/merge-templates.ts'
import { ActionError } from '../../../lib/errors.ts'
import type { SubjectRow } from '../../../store/gallery-schema.ts'
import type { ReadTx } from '../../../store/database.ts'
import type { Template } from '../../../vision/embed/template.ts'
import type { ActionCall } from '../../action.ts'
import { subjectNotFound } from '../action-errors.ts'
import { subjectLookup } from '../subject-lookup.ts'
import type { ProbeSelector } from './candidates.ts'

type StoredSearchCall = Pick<ActionCall<ProbeSelector>, 'params' | 'caller' | 'services'>

/** A probe of stored templates. */
export type StoredProbe = {
  readonly subjectId: string
  /** The faces whose templates the probe consists of. */
  readonly faceIds: readonly string[]
  /** One template per model. */
  readonly templates: readonly Template[]
}

/**
 * Reads the templates of a face, or those of all faces of a subject, merged into one probe.
 *
 * @throws ActionError SUBJECT_NOT_FOUND, or MODEL_MISMATCH if it has no template of a loaded model.
 */
export async function readStoredProbe(call: StoredSearchCall): Promise<StoredProbe> {
  const { subjects, matching } = call.services
  const { faceId } = call.params
  const subject = await subjects.read((reading) => findProbeSubject(call, reading))
  const faces = await matching.readStoredFaces({ subject, faceId: faceId?.toLowerCase() })
  const all = faces.flatMap(({ templates }) => templates)
  const modelIds = new Set(all.map(({ modelId }) => modelId))
  if (modelIds.size === 0)
    throw new ActionError('MODEL_MISMATCH', 'the subject has no template of a loaded model')
  const templates = [...modelIds].map((modelId) =>
    mergeFaces(all.filter((template) => template.modelId === modelId)),
  )
  const faceIds = faces.map((face) => face.faceId)
  return { subjectId: subject.subjectId, faceIds, templates }
}

/** Finds the subject of a stored search. @throws ActionError SUBJECT_NOT_FOUND. */
export async function findProbeSubject(
  { params, caller: { galleryId }, services: { subjects } }: StoredSearchCall,
  reading: ReadTx,
): Promise<SubjectRow> {
  const { subjectId, externalId, faceId } = params
  if (subjectId !== undefined || externalId !== undefined)
    return (
      (await subjects.find(reading, galleryId, subjectLookup(params))) ?? subjectNotFound(params)
    )
  const [face] = await subjects.listFaces(reading, { galleryId, faceId, limit: 1 })
  const subject = face && (await subjects.find(reading, galleryId, face))
  if (subject) return subject
  throw new ActionError(
    'SUBJECT_NOT_FOUND',
    'params.faceId: the gallery contains no face with this faceId',
    { hint: 'List the faces of a subject with GET /v1/subjects/{subjectId}?include=faces.' },
  )
}

/** The decrypted templates of the faces are overwritten after they were merged. */
function mergeFaces(templates: readonly Template[]): Template {
  const merged = mergeTemplates(templates, spreadShares.probe)
  for (const { vector } of templates) vector.fill(0)
  return merged
}

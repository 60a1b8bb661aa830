import type { Gallery } from '../../gallery/gallery.ts'
import { ActionError, type ActionErrorCode } from '../../lib/errors.ts'
import type { SubjectRow } from '../../store/schema.ts'
import type { Tx } from '../../store/tx.ts'
import type { ActionCall } from '../action.ts'
import { toNewFace } from './store-face.ts'
import type { ProbeFace } from './extract-probes.ts'

/** What enrolment asks of a face by default. */
const qualityMin = 40
/** Strangers are so alike once in 10⁵ comparisons: the level `high`. */
const similarityMin = 0.9

const capacityErrors: ReadonlySet<ActionErrorCode> = new Set([
  'TEMPLATE_LIMIT_REACHED',
  'GALLERY_FULL',
])

export type SubjectMatch = {
  readonly probe: ProbeFace
  readonly best: NonNullable<Awaited<ReturnType<Gallery['matchSubject']>>>
}

/**
 * Remembers the probe of a verification as one more face of a subject that no template of the
 * active model knows yet, so that it is known after a change of the model. Only where the project
 * has switched it on, and only what enrolment would take and a former model is sure of.
 *
 * @returns the id of the new face; undefined where nothing was to be added, or is no room.
 */
export async function autoEnroll(
  call: Pick<ActionCall<unknown>, 'caller' | 'services'>,
  tx: Tx,
  subject: SubjectRow,
  { probe: seen, best }: SubjectMatch,
): Promise<string | undefined> {
  const { gallery } = call.services
  const isSure = best.similarity >= similarityMin && seen.qualityScore >= qualityMin
  if (!isSure || (await gallery.modelsOf(tx, subject)).hasActive) return undefined
  if (!(await gallery.switches(tx, call.caller.projectId)).adopt) return undefined
  try {
    return await gallery.addFace(tx, subject, await toNewFace(call, tx, seen))
  } catch (error) {
    if (error instanceof ActionError && capacityErrors.has(error.code)) return undefined
    throw error
  }
}

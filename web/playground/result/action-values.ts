import type { z } from 'zod'
import type { analyze } from '../../../src/actions/analyze.ts'
import type { attributes } from '../../../src/actions/attributes.ts'
import type { deleteSubject } from '../../../src/actions/delete-subject.ts'
import type { detect } from '../../../src/actions/detect.ts'
import type { enroll } from '../../../src/actions/enroll.ts'
import type { identify } from '../../../src/actions/identify.ts'
import type { liveness } from '../../../src/actions/liveness.ts'
import type { updateSubject } from '../../../src/actions/update-subject.ts'
import type { verify } from '../../../src/actions/verify.ts'

type ValueOf<Action extends { readonly value: z.ZodType }> = z.output<Action['value']>

/** The value of a successful result of each action. The server validates it with the same schema. */
export type ActionValues = {
  readonly 'svc.analyze': ValueOf<typeof analyze>
  readonly 'svc.attributes': ValueOf<typeof attributes>
  readonly 'svc.deleteSubject': ValueOf<typeof deleteSubject>
  readonly 'svc.detect': ValueOf<typeof detect>
  readonly 'svc.enroll': ValueOf<typeof enroll>
  readonly 'svc.identify': ValueOf<typeof identify>
  readonly 'svc.liveness': ValueOf<typeof liveness>
  readonly 'svc.updateSubject': ValueOf<typeof updateSubject>
  readonly 'svc.verify': ValueOf<typeof verify>
}

export type CandidateValue = NonNullable<ActionValues['svc.identify']['bestMatch']>
export type AnalyzedFaceValue = ActionValues['svc.analyze']['faces'][number]
export type DetectedFaceValue = ActionValues['svc.attributes']['face']
export type AppearanceValue = ActionValues['svc.attributes']['attributes']
export type LivenessResultValue = Pick<
  ActionValues['svc.liveness'],
  'decision' | 'live' | 'score' | 'threshold' | 'reasons'
>

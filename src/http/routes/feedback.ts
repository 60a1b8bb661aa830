import { z } from 'zod'
import { facesMax } from '../../actions/parts/extract-probes.ts'
import { subjectId, uuid } from '../../actions/schemas/fields.ts'
import { imagesPerCallMax } from '../../lib/limits/call-limits.ts'
import examples from './examples.json' with { type: 'json' }
import { defineRoute } from './rest-route.ts'
import texts from '../../actions/schemas/field-texts.json' with { type: 'json' }

const index = (count: number) =>
  z
    .int()
    .min(0)
    .max(count - 1)

const match = z.object({
  requestId: uuid.describe(texts.feedback.requestId),
  resultIndex: index(imagesPerCallMax),
  faceIndex: index(facesMax),
  subjectId: subjectId.describe(texts.feedback.subjectId),
  verdict: z.enum(['confirm', 'deny']).describe(texts.feedback.verdict),
})

export const sendFeedback = defineRoute('POST', '/v1/feedback', {
  name: 'sendFeedback',
  summary:
    'Confirm or deny a match of svc.identify. A denied face no longer matches that subject; other subjects are not affected.',
  permission: 'svc.updateSubject',
  query: z.strictObject({}),
  // A call with one match needs no selection.
  body: z
    .strictObject(match.partial({ resultIndex: true, faceIndex: true, subjectId: true }).shape)
    .meta({ id: 'Feedback' }),
  hasUnknown: true,
  value: match.meta({ id: 'FeedbackValue' }),
  example: examples.feedback,
  run: async ({ body, caller: { projectId, galleryId }, services: { maintenance } }) => {
    const call = { projectId, galleryId, requestId: body.requestId }
    const verdict = body.verdict === 'deny' ? 'denied' : 'confirmed'
    const decided = await maintenance.decideMatch(call, { ...body, verdict })
    return { ...decided, verdict: body.verdict }
  },
})

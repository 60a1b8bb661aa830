import { z } from 'zod'
import { formatUtc } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'
import { findNearMiss } from '../../store/gallery/feedback/near-miss-crops.ts'
import { defineWrite } from '../server/console-route.ts'
import { requireCall } from '../server/input.ts'

/**
 * Returns the face of a near miss, as long as its project keeps it. It can show a person who is not
 * enrolled, so it is not shown to viewers, and each display is in the audit log.
 */
export const showPicture = defineWrite({
  path: '/log/:callId/picture',
  auditAction: 'log.showPicture',
  response: z.object({
    jpeg: z.string().meta({ description: 'A JPEG in base64.' }),
    expiresAtUtc: z.string(),
  }),
  handle: async (context, { tx }) => {
    const { subjects, clock } = context.services
    const call = await requireCall(tx, context)
    const found = await findNearMiss(tx, call, clock())
    const jpeg = found && (await subjects.readNearMissCrop(tx, found, found.cropId))
    if (!jpeg) throw new HttpError(404, 'No picture of this call is stored.')
    const { callId, projectId, requestId } = call
    return {
      response: { jpeg: jpeg.toString('base64'), expiresAtUtc: formatUtc(found.expiresAtMs) },
      target: requestId,
      detail: { callId, projectId },
    }
  },
})

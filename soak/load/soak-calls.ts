import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { addViolation } from './call-record.ts'
import { sendCall } from './send-call.ts'
import type { AnsweredCall, SoakCallContext, SoakCaller } from './soak-caller.ts'
import {
  enrollSubject,
  identifySubjects,
  listSubjects,
  readRandomSubject,
  updateRandomSubject,
  verifySubject,
} from './subject-calls.ts'

const replaysMax = 50

export type SoakCalls = {
  readonly sendImageCall: () => Promise<void>
  readonly sendCheapCall: () => Promise<void>
}

export function createSoakCalls(context: SoakCallContext): SoakCalls {
  const caller = createCaller(context)
  const { pick, callWithImage, images } = caller
  const portrait = () => pick(images.portraits)
  const imageCalls: readonly (() => Promise<unknown>)[] = [
    () => enrollSubject(caller),
    () => identifySubjects(caller),
    () => callWithImage('svc.verify', { images: [portrait(), portrait()] }),
    () => callWithImage('svc.detect', { images: [pick(images.groups)] }),
    () => callWithImage('svc.analyze', { images: [portrait()] }),
    () => callWithImage('svc.liveness', { images: [portrait()] }),
    // Rejected with MULTIPLE_FACES, and therefore not billed.
    () => callWithImage('svc.enroll', { images: [pick(images.groups)] }),
    () => verifySubject(caller),
  ]
  const cheapCalls: readonly (() => Promise<unknown>)[] = [
    () => replay(caller),
    () => updateRandomSubject(caller),
    () => readRandomSubject(caller),
    () => listSubjects(caller),
  ]
  return {
    sendImageCall: async () => void (await pick(imageCalls)?.()),
    sendCheapCall: async () => void (await pick(cheapCalls)?.()),
  }
}

function createCaller(context: SoakCallContext): SoakCaller {
  const { record, random } = context
  const answered: AnsweredCall[] = []
  return {
    ...context,
    answered,
    pick: (items) => items[Math.floor(random() * items.length)],
    call: async (action, params) => {
      const body = { action, requestId: randomUUID(), params }
      const envelope = await sendCall(context, body, 'call without image')
      if (action === 'svc.deleteSubject' && envelope?.ok === false)
        addViolation(record, `an existing subject was not deleted: ${envelope.errors[0]?.code}`)
      return envelope?.data?.results
    },
    callWithImage: async (action, params) => {
      const body = { action, requestId: randomUUID(), params }
      const envelope = await sendCall(context, body, 'image call')
      if (!envelope) return undefined
      const { ok, data } = envelope
      ;(ok ? record.acknowledged : record.rejected).add(body.requestId)
      if (ok) answered.push({ body, data })
      if (answered.length > replaysMax) answered.shift()
      return data?.results
    },
  }
}

/** Repeats an answered call. It must return the stored response. */
async function replay(caller: SoakCaller): Promise<void> {
  const earlier = caller.pick(caller.answered)
  if (!earlier) return
  const { action, requestId } = earlier.body
  const envelope = await sendCall(caller, earlier.body, 'call without image')
  if (!envelope) return
  const { ok, data, meta } = envelope
  if (!ok || !meta?.idempotencyReplay)
    addViolation(caller.record, `${action} ${requestId} was not replayed`)
  // A deletion removes the subject from stored responses, so only other results must be equal.
  else if (action === 'svc.detect' && !isDeepStrictEqual(data, earlier.data))
    addViolation(caller.record, `${action} ${requestId} was replayed with another result`)
}

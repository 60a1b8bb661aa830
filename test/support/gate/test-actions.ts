import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { defineAction, type Action } from '../../../src/actions/action.ts'
import { ActionError } from '../../../src/lib/errors.ts'

const resultSchema = z.object({ text: z.string(), run: z.int() })

/** How many times the action ran, by the text that it returned. */
export type RunCounts = Map<string, number>

/** Actions without images: they return a given text, fail if requested, and count their runs. */
export function testActions(runs: RunCounts): ReadonlyMap<string, Action> {
  const echo = defineAction({
    name: 'svc.echo',
    summary: 'Return the text.',
    price: () => 1,
    params: z.strictObject({
      text: z.string().default(''),
      waitMs: z.int().default(0),
      /** `action`: an expected failure; `fault`: a bug. */
      fail: z.enum(['no', 'action', 'fault']).default('no'),
    }),
    value: resultSchema,
    errors: ['NO_FACE_FOUND'],
    example: { params: {}, value: { text: '', run: 1 } },
    run: async ({ params: { text, waitMs, fail } }) => {
      const run = (runs.get(text) ?? 0) + 1
      runs.set(text, run)
      if (waitMs > 0) await sleep(waitMs)
      if (fail === 'action') throw new ActionError('NO_FACE_FOUND', text)
      if (fail === 'fault') throw new Error(text)
      return [{ correlationId: undefined, value: { text, run } }]
    },
  })
  const batch = defineAction({
    name: 'svc.batch',
    summary: 'Return each text; an empty text fails.',
    price: (imageCount) => 2 * imageCount,
    params: z.strictObject({ images: z.array(z.string()).min(1).max(10) }),
    value: resultSchema,
    errors: ['NO_FACE_FOUND'],
    example: { params: {}, value: { text: '', run: 1 } },
    run: async ({ params: { images } }) =>
      images.map((text) =>
        text === ''
          ? { correlationId: undefined, error: { code: 'NO_FACE_FOUND', message: 'empty' } }
          : { correlationId: undefined, value: { text, run: 1 } },
      ),
  })
  return new Map([echo, batch].map((action) => [action.name, action]))
}

import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { defineAction, type Action } from '../../../src/actions/action.ts'
import { ActionError } from '../../../src/lib/errors.ts'

const resultSchema = z.object({ said: z.string(), run: z.int() })

/** How often an action of the test ran, by what it was told to say. */
export type RunCounts = Map<string, number>

/** Actions without a picture: they say what they are told, fail as they are told, and count. */
export function testActions(runs: RunCounts): ReadonlyMap<string, Action> {
  const echo = defineAction({
    name: 'svc.echo',
    summary: 'Say it.',
    price: () => 1,
    params: z.strictObject({
      say: z.string().default(''),
      waitMs: z.int().default(0),
      /** `action`: an expected failure; `fault`: a bug. */
      fail: z.enum(['no', 'action', 'fault']).default('no'),
    }),
    value: resultSchema,
    errors: ['NO_FACE_FOUND'],
    example: { params: {}, value: { said: '', run: 1 } },
    run: async ({ params: { say, waitMs, fail } }) => {
      const run = (runs.get(say) ?? 0) + 1
      runs.set(say, run)
      if (waitMs > 0) await sleep(waitMs)
      if (fail === 'action') throw new ActionError('NO_FACE_FOUND', say)
      if (fail === 'fault') throw new Error(say)
      return [{ correlationId: undefined, value: { said: say, run } }]
    },
  })
  const batch = defineAction({
    name: 'svc.batch',
    summary: 'Say each; what is empty fails.',
    price: (imageCount) => 2 * imageCount,
    params: z.strictObject({ images: z.array(z.string()).min(1).max(10) }),
    value: resultSchema,
    errors: ['NO_FACE_FOUND'],
    example: { params: {}, value: { said: '', run: 1 } },
    run: async ({ params: { images } }) =>
      images.map((said) =>
        said === ''
          ? { correlationId: undefined, error: { code: 'NO_FACE_FOUND', message: 'empty' } }
          : { correlationId: undefined, value: { said, run: 1 } },
      ),
  })
  return new Map([echo, batch].map((action) => [action.name, action]))
}

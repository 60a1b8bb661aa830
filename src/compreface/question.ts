import type { z } from 'zod'
import type { Action } from '../actions/action.ts'
import { analyze } from '../actions/analyze.ts'
import { ActionError } from '../lib/errors.ts'
import { mapInTurn } from '../lib/in-turn.ts'
import type { Score } from '../store/hours.ts'
import type { Tx } from '../store/tx.ts'
import type { ImageItem } from './pictures.ts'
import type { LookQuery } from './query.ts'
import type { Work, Workplace } from './serve.ts'

/** A question to an action, with its price and under its permission. */
export type Question<Value> = {
  readonly name: string
  readonly units: number
  readonly params: object
  readonly run: (at: Workplace & { readonly debug: boolean }) => Promise<Replying<Value>>
}

type Replied<Value> = { readonly value: Value; readonly scores: readonly Score[] }

type Replying<Value> = {
  readonly effect: (tx: Tx) => Promise<Replied<Value>> | Replied<Value>
  readonly afterwards?: (() => Promise<void>) | undefined
}

/** Asks an action of one picture, or of one pair. */
export function questionTo<Params extends z.ZodType, Value extends z.ZodType>(
  action: Action & { readonly params: Params; readonly value: Value },
  params: z.input<Params> & { readonly images: readonly unknown[] },
): Question<z.output<Value>> {
  return {
    name: action.name,
    units: action.price(params.images.length),
    params,
    run: async (at) => {
      const { effect, afterwards } = await action.run({ ...at, params })
      return { effect: (tx) => reply(tx), afterwards }

      async function reply(tx: Tx) {
        const [outcome] = await effect(tx)
        if (!outcome) throw new Error('an action has at least one outcome')
        if ('error' in outcome) throw new ActionError(outcome.error.code, outcome.error.message)
        return { value: action.value.parse(outcome.value), scores: action.scores(outcome) }
      }
    },
  }
}

export type Analysis = z.output<typeof analyze.value>

export type Look<Value> = {
  readonly main: Question<Value>
  /** Whose faces are to be told more of, where the plugins need it. */
  readonly pictures: readonly ImageItem[]
  readonly query: LookQuery
  /** @throws ActionError when the value is a failure in the words of CompreFace. */
  readonly tell: (value: Value, analyses: readonly Analysis[]) => unknown
}

/** One call: the main question and, for age and gender, an analysis of each picture beside it. */
export function workOf<Value>({ main, pictures, query, tell }: Look<Value>): Work {
  const debug = query.status === 'true'
  const analyses = needsAnalysis(query) ? pictures.map((one) => analysisOf(one, query)) : []
  const questions = [main, ...analyses]
  return {
    name: main.name,
    permissions: [...new Set([...questions.map(({ name }) => name), ...(debug ? ['debug'] : [])])],
    units: questions.reduce((sum, { units }) => sum + units, 0),
    params: main.params,
    run: async (at) => {
      const asking = { ...at, debug }
      const [first, others] = await Promise.all([
        main.run(asking),
        Promise.all(analyses.map((one) => one.run(asking))),
      ])
      return {
        effect: async (tx) => {
          const { value, scores } = await first.effect(tx)
          const seen = await mapInTurn(others, async (one) => (await one.effect(tx)).value)
          return { body: tell(value, seen), scores }
        },
        afterwards: first.afterwards,
      }
    },
  }
}

export function needsAnalysis({ face_plugins: plugins }: LookQuery): boolean {
  return plugins.includes('age') || plugins.includes('gender')
}

/** As many faces as svc.analyze tells of. */
const facesMax = 100

export function analysisOf(picture: ImageItem, query: LookQuery): Question<Analysis> {
  return questionTo(analyze, {
    images: [picture],
    features: ['landmarks', 'attributes'],
    maxFaces: Math.min(query.limit || facesMax, facesMax),
    ...confidenceOf(query),
  })
}

export function confidenceOf({ det_prob_threshold: minFaceConfidence }: LookQuery) {
  return minFaceConfidence === undefined ? {} : { minFaceConfidence }
}

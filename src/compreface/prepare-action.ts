import type { z } from 'zod'
import type { Action } from '../actions/action.ts'
import { analyze } from '../actions/analyze.ts'
import { ActionError } from '../lib/errors.ts'
import { mapSequential } from '../lib/map-sequential.ts'
import type { Score } from '../store/gate/hourly-counts.ts'
import type { Tx } from '../store/tx.ts'
import type { CompreFaceImage } from './input/read-images.ts'
import type { ImageQuery } from './input/query.ts'
import type { CompreFaceCall, CallContext } from './serve-route.ts'

/** A question to an action, with its price and under its permission. */
export type PreparedAction<Value> = {
  readonly name: string
  readonly units: number
  readonly params: object
  readonly run: (at: CallContext & { readonly debug: boolean }) => Promise<ActionReplyEffect<Value>>
}

type ActionReply<Value> = { readonly value: Value; readonly scores: readonly Score[] }

type ActionReplyEffect<Value> = {
  readonly effect: (tx: Tx) => Promise<ActionReply<Value>> | ActionReply<Value>
  readonly afterCommit?: (() => Promise<void>) | undefined
}

/** Asks an action of one picture, or of one pair. */
export function prepareAction<Params extends z.ZodType, Value extends z.ZodType>(
  action: Action & { readonly params: Params; readonly value: Value },
  params: z.input<Params> & { readonly images: readonly unknown[] },
): PreparedAction<z.output<Value>> {
  return {
    name: action.name,
    units: action.price(params.images.length),
    params,
    run: async (at) => {
      const { effect, afterCommit: afterwards } = await action.run({ ...at, params })
      return { effect: (tx) => reply(tx), afterCommit: afterwards }

      async function reply(tx: Tx) {
        const [outcome] = await effect(tx)
        if (!outcome) throw new Error('an action has at least one outcome')
        if ('error' in outcome) throw new ActionError(outcome.error.code, outcome.error.message)
        return { value: action.value.parse(outcome.value), scores: action.scores(outcome) }
      }
    },
  }
}

export type AnalyzeOutput = z.output<typeof analyze.value>

export type ImageCall<Value> = {
  readonly main: PreparedAction<Value>
  /** Whose faces are to be told more of, where the plugins need it. */
  readonly images: readonly CompreFaceImage[]
  readonly query: ImageQuery
  /** @throws ActionError when the value is a failure in the words of CompreFace. */
  readonly toResponse: (value: Value, analyses: readonly AnalyzeOutput[]) => unknown
}

/** One call: the main question and, for age and gender, an analysis of each picture beside it. */
export function toCompreFaceCall<Value>({
  main,
  images: pictures,
  query,
  toResponse: tell,
}: ImageCall<Value>): CompreFaceCall {
  const debug = query.status === 'true'
  const analyses = needsAnalysis(query) ? pictures.map((one) => prepareAnalysis(one, query)) : []
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
          const seen = await mapSequential(others, async (one) => (await one.effect(tx)).value)
          return { body: tell(value, seen), scores }
        },
        afterCommit: first.afterCommit,
      }
    },
  }
}

export function needsAnalysis({ face_plugins: plugins }: ImageQuery): boolean {
  return plugins.includes('age') || plugins.includes('gender')
}

/** As many faces as svc.analyze tells of. */
const facesMax = 100

export function prepareAnalysis(
  picture: CompreFaceImage,
  query: ImageQuery,
): PreparedAction<AnalyzeOutput> {
  return prepareAction(analyze, {
    images: [picture],
    features: ['landmarks', 'attributes'],
    maxFaces: Math.min(query.limit || facesMax, facesMax),
    ...confidenceParams(query),
  })
}

export function confidenceParams({ det_prob_threshold: minFaceConfidence }: ImageQuery) {
  return minFaceConfidence === undefined ? {} : { minFaceConfidence }
}

import { z } from 'zod'
import { countAccountTemplates } from '../../store/gallery/model-coverage.ts'
import { count } from '../server/schemas.ts'
import { defineRead, noQuery } from '../server/route.ts'

const model = z.object({
  role: z.string(),
  id: z.string(),
  version: z.string(),
  licence: z.string(),
  commercialUse: z.string(),
  sha256: z.string(),
  file: z.string(),
  bytes: count,
  builtIn: z.boolean(),
})

/** The networks that look, and what the scores of the recognizer mean. */
export const getModels = defineRead({
  path: '/models',
  minimumRole: 'viewer',
  query: noQuery,
  response: z.object({
    active: z.array(model),
    installed: z.array(model),
    calibration: z.object({
      modelId: z.string(),
      set: z.string(),
      measuredOn: z.string(),
      points: z.array(
        z.object({
          fmr: z.number(),
          similarity: z.number(),
          score: z.number(),
          source: z.string(),
        }),
      ),
    }),
    comparable: z
      .array(z.object({ modelId: z.string(), faces: count }))
      .meta({ description: 'Faces by the model of their templates; only its own compare.' }),
  }),
  handle: async ({ identity: visitor, services: { store, readModels: models, similarityAt } }) => {
    const { active, installed, calibration } = await models()
    const { accountId } = visitor
    const counted = await store.read((reading) => countAccountTemplates(reading, accountId))
    const { modelId, set, measuredOn } = calibration
    const points = calibration.points.map((point) => ({
      ...point,
      similarity: similarityAt(point.score, calibration),
    }))
    return {
      active: [...active],
      installed: [...installed],
      calibration: { modelId, set, measuredOn, points },
      comparable: [...counted],
    }
  },
})

import { z } from 'zod'
import { countAccountTemplates } from '../../../store/gallery/model-coverage.ts'
import { galleryCalibration, readGalleryCalibrations } from './calibrations.ts'
import { count } from '../../server/input.ts'
import { defineRead } from '../../server/console-route.ts'
import { modelSummary } from './server-status.ts'

/** Returns the networks and the calibration of the active recognizer. */
export const getModels = defineRead({
  path: '/models',
  response: z.object({
    active: z.array(modelSummary),
    installed: z.array(modelSummary),
    calibration: z.object({
      modelId: z.string(),
      set: z.string(),
      measuredOn: z.string(),
      populations: z.string().optional().meta({
        description:
          'The origin of the rows that represent other people than those of the set. Without it, the table holds only for pictures like those of the set.',
      }),
      points: z.array(
        z.object({
          fmr: z.number(),
          similarity: z.number(),
          score: z.number(),
          source: z.string(),
        }),
      ),
    }),
    galleryCalibrations: z.array(galleryCalibration).meta({
      description: 'The tables that galleries use instead of that of the active recognizer.',
    }),
    comparable: z.array(z.object({ modelId: z.string(), faces: count })).meta({
      description:
        'Faces by the model of their templates. Only templates of one model can be compared.',
    }),
  }),
  handle: async ({ identity, services: { store, readModels, similarityAt } }) => {
    const { active, installed, calibration } = await readModels()
    const { accountId } = identity
    const templateCounts = await store.read((tx) => countAccountTemplates(tx, accountId))
    const galleryCalibrations = await store.read((tx) =>
      readGalleryCalibrations(tx, accountId, { calibration, similarityAt }),
    )
    const points = calibration.points.map((point) => ({
      ...point,
      similarity: similarityAt(point.score, calibration),
    }))
    return {
      active,
      installed,
      calibration: { ...calibration, points },
      galleryCalibrations,
      comparable: templateCounts,
    }
  },
})

import { z } from 'zod'
import { runAsAllAccounts } from '../../../lib/account-context.ts'
import { countAccountTemplates, findModelCoverage } from '../../../store/gallery/model-coverage.ts'
import { calibrationPoint, galleryCalibration, readGalleryCalibrations } from './calibrations.ts'
import { count } from '../../server/input.ts'
import { defineRead } from '../../server/console-route.ts'
import { isOfFirstAccount } from '../../server/first-account.ts'
import type { ModelInventory } from '../../services.ts'

/** Returns all networks and the calibration of the active recognizer. */
export const getModels = defineRead({
  path: '/models',
  response: z.object({
    mayChange: z.boolean().meta({
      description: 'Whether the user may change the models: an owner of the first account.',
    }),
    models: z.custom<ModelInventory['models']>(),
    coverage: z
      .object({ comparableFaces: count, remakeableFaces: count, waitingFaces: count })
      .nullable()
      .meta({
        description:
          'For those who may change the models: faces of all accounts with a template of the active recognizer, faces whose crop will be embedded again, and the other faces.',
      }),
    calibration: z.object({
      modelId: z.string(),
      set: z.string(),
      measuredOn: z.string(),
      populations: z.string().optional().meta({
        description:
          'The origin of the rows that represent other people than those of the set. Without it, the table holds only for pictures like those of the set.',
      }),
      points: z.array(calibrationPoint),
    }),
    galleryCalibrations: z.array(galleryCalibration).meta({
      description: 'The tables that galleries use instead of that of the active recognizer.',
    }),
    comparable: z.array(z.object({ modelId: z.string(), faces: count })).meta({
      description:
        'Faces by the model of their templates. Only templates of one model can be compared.',
    }),
  }),
  handle: async ({ identity, services }) => {
    const { store, readModels, similarityAt } = services
    const { models, calibration } = await readModels()
    const { accountId } = identity
    const templateCounts = await store.read((tx) => countAccountTemplates(tx, accountId))
    const galleryCalibrations = await store.read((tx) =>
      readGalleryCalibrations(tx, accountId, { calibration, similarityAt }),
    )
    const mayChange = identity.role === 'owner' && (await isOfFirstAccount({ identity, services }))
    const readCoverage = () => store.read((tx) => findModelCoverage(tx, calibration.modelId))
    const points = calibration.points.map((point) => ({
      ...point,
      similarity: similarityAt(point.score, calibration),
    }))
    return {
      mayChange,
      models,
      coverage: mayChange ? await runAsAllAccounts(readCoverage) : null,
      calibration: { ...calibration, points },
      galleryCalibrations,
      comparable: templateCounts,
    }
  },
})

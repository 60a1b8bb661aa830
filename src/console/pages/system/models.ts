import { z } from 'zod'
import { runAsAllAccounts } from '../../../lib/account-context.ts'
import { countAccountTemplates, findModelCoverage } from '../../../store/gallery/model-coverage.ts'
import { calibrationPoint, galleryCalibration, readGalleryCalibrations } from './calibrations.ts'
import { count } from '../../server/input.ts'
import { defineRead } from '../../server/console-route.ts'
import { isOfFirstAccount } from '../../server/first-account.ts'
import type { ModelInventory } from '../../services.ts'
import texts from '../../field-texts.json' with { type: 'json' }

/** Returns all networks and the calibration of the active recognizer. */
export const getModels = defineRead('/models', {
  response: z.object({
    mayChange: z.boolean().describe(texts.models.mayChange),
    models: z.custom<ModelInventory['models']>(),
    coverage: z
      .object({ comparableFaces: count, remakeableFaces: count, waitingFaces: count })
      .nullable()
      .describe(texts.models.coverage),
    calibration: z.object({
      modelId: z.string(),
      set: z.string(),
      measuredOn: z.string(),
      populations: z.string().optional().describe(texts.models.populations),
      points: z.array(calibrationPoint),
    }),
    galleryCalibrations: z.array(galleryCalibration).describe(texts.models.galleryCalibrations),
    comparable: z
      .array(z.object({ modelId: z.string(), faces: count }))
      .describe(texts.models.comparable),
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

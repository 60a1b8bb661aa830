import { z } from 'zod'
import { HttpError } from '../../../lib/errors.ts'
import {
  endCalibrations,
  findAccountCalibrations,
} from '../../../store/gallery/calibration/applied-calibrations.ts'
import { findProjectSummaries } from '../../../store/tenancy/project-summaries.ts'
import type { ReadTx } from '../../../store/database.ts'
import { defineWrite } from '../../server/console-route.ts'
import { count, requireConfirmedName, requireProject } from '../../server/input.ts'
import type { ConsoleServices, ModelInventory } from '../../services.ts'
import texts from '../../field-texts.json' with { type: 'json' }

/** One rate of a calibration table. */
export const calibrationPoint = z.object({
  fmr: z.number(),
  similarity: z.number(),
  score: z.number(),
  source: z.string(),
})

/** A calibration table that was measured on a gallery. */
export const galleryCalibration = z.object({
  calibrationId: z.string(),
  /** One project, or all projects of the shared gallery. */
  projects: z.array(z.object({ projectId: z.string(), name: z.string() })),
  modelId: z.string(),
  isUsed: z.boolean().describe(texts.calibrations.isUsed),
  subjects: count,
  pairs: count,
  appliedAtUtc: z.string(),
  appliedBy: z.string(),
  points: z.array(
    calibrationPoint.extend({
      modelScore: z.number().describe(texts.calibrations.modelScore),
    }),
  ),
})

/** The part of a stored table that the console shows. */
const storedTable = z.object({ points: z.array(calibrationPoint.omit({ similarity: true })) })

/** Returns the tables that the galleries of an account use. */
export async function readGalleryCalibrations(
  tx: ReadTx,
  accountId: string,
  {
    calibration,
    similarityAt,
  }: Pick<ConsoleServices, 'similarityAt'> & Pick<ModelInventory, 'calibration'>,
): Promise<z.input<typeof galleryCalibration>[]> {
  const rows = await findAccountCalibrations(tx, accountId)
  const projects = rows.length === 0 ? [] : await findProjectSummaries(tx, accountId)
  const toPoints = (definition: string) =>
    storedTable.parse(JSON.parse(definition)).points.flatMap((point) => {
      const shipped = calibration.points.find(({ fmr }) => fmr === point.fmr)
      if (!shipped) return []
      const similarity = similarityAt(shipped.score, calibration)
      return [{ ...point, similarity, modelScore: shipped.score }]
    })
  return rows.map((row) => {
    const isUsed = row.modelId === calibration.modelId
    const { galleryId, definition, ...shown } = row
    const ofGallery = projects.filter((project) => project.galleryId === galleryId)
    return {
      ...shown,
      isUsed,
      projects: ofGallery.map(({ projectId, name }) => ({ projectId, name })),
      points: isUsed ? toPoints(definition) : [],
    }
  })
}

/** Returns the gallery of a project to the tables of the models. The table stays as history. */
export const revertCalibration = defineWrite('/projects/:projectId/calibration/revert', {
  auditAction: 'calibration.revert',
  body: z.strictObject({ confirm: z.string().max(128) }),
  response: z.object({ calibrationIds: z.array(z.string()) }),
  handle: async (call, { tx }) => {
    const { services, identity, body } = call
    const project = await requireProject(tx, call)
    requireConfirmedName(project, body.confirm)
    const { projectId, galleryId } = project
    const change = { atUtc: new Date(services.clock()).toISOString(), by: identity.name }
    const calibrationIds = [...(await endCalibrations(tx, galleryId, change))]
    if (calibrationIds.length === 0)
      throw new HttpError(409, 'The gallery uses the table of the model already.')
    const detail = { galleryId, calibrationIds }
    return {
      response: { calibrationIds },
      target: projectId,
      detail,
      afterCommit: () => refreshTables(services),
    }
  },
})

/** Uses the tables of the database at once. Other servers follow within two seconds. */
export async function refreshTables({ maintenance, log }: ConsoleServices): Promise<void> {
  try {
    await maintenance.refreshCalibrations()
  } catch (error) {
    log.error({ err: error }, 'calibrations are not current')
  }
}

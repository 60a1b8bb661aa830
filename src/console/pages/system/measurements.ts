import { z } from 'zod'
import type { GalleryCalibrationReport } from '../../../gallery/calibration/measure/calibrate-gallery.ts'
import type { MeasurementResult } from '../../../gallery/calibration/measurements.ts'
import { HttpError } from '../../../lib/errors.ts'
import {
  findProjectSummaries,
  type ProjectSummary,
} from '../../../store/tenancy/project-summaries.ts'
import { defineRead, defineWrite, type ConsoleContext } from '../../server/console-route.ts'
import { count, id, requireConfirmedName, requireProject } from '../../server/input.ts'
import { refreshTables } from './calibrations.ts'

/** The calibration of a gallery on its own subjects: start, progress and result, discard, apply. */

const measurementId = z.string()

const measurement = z.discriminatedUnion('state', [
  z.object({ state: z.literal('none') }),
  z.object({
    state: z.literal('running'),
    measurementId,
    progress: z.object({ step: z.enum(['templates', 'pairs']), done: count, total: count }),
  }),
  z.object({
    state: z.literal('measured'),
    measurementId,
    report: z.custom<GalleryCalibrationReport>(),
    curve: z.custom<MeasurementResult['curve']>(),
    distribution: z.custom<MeasurementResult['distribution']>(),
    projects: z.array(z.object({ projectId: z.string(), name: z.string() })).meta({
      description: 'The projects that use the gallery.',
    }),
  }),
  z.object({ state: z.literal('refused'), measurementId, reason: z.string() }),
  z.object({ state: z.literal('failed'), measurementId }),
])

const path = '/projects/:projectId/calibration/measurement'

/** Returns the last measurement of a gallery that this server started, for 15 minutes after its end. */
export const getMeasurement = defineRead(path, {
  response: measurement,
  handle: async (call) => {
    const { store, measurements } = call.services
    const project = await store.read((tx) => requireProject(tx, call))
    const found = measurements.find(galleryOf(call, project))
    if (found?.state !== 'measured') return found ?? { state: 'none' as const }
    const { accountId } = call.identity
    const projects = await store.read((tx) => findProjectSummaries(tx, accountId))
    return {
      ...found.result,
      state: found.state,
      measurementId: found.measurementId,
      projects: projects.filter(({ galleryId }) => galleryId === project.galleryId),
    }
  },
})

function galleryOf({ identity }: Pick<ConsoleContext, 'identity'>, { galleryId }: ProjectSummary) {
  return { accountId: identity.accountId, galleryId }
}

/** As many as a measurement lists. */
const samePersonMax = 1_000

/**
 * Starts a measurement in a thread of this server. Pairs of subject ids that the user has confirmed
 * as one person are left out.
 *
 * @throws HttpError 409 while another one runs on this server.
 */
export const startMeasurement = defineWrite(path, {
  auditAction: 'calibration.measure',
  isDoneByPrepare: true,
  body: z.strictObject({ samePerson: z.array(z.tuple([id, id])).max(samePersonMax) }),
  response: z.object({ measurementId }),
  prepare: async (call) => {
    const { services, body } = call
    const project = await services.store.read((tx) => requireProject(tx, call))
    const { calibration: shipped } = await services.readModels()
    const request = { ...galleryOf(call, project), shipped, samePerson: body.samePerson }
    const started = services.measurements.start(request)
    if (started === undefined)
      throw new HttpError(
        409,
        'This server already calculates a calibration of the account. Try again when it has ended.',
      )
    return { measurementId: started, project }
  },
  handle: async ({ prepared: { measurementId: started, project }, body }) => ({
    response: { measurementId: started },
    target: project.projectId,
    detail: { galleryId: project.galleryId, samePerson: body.samePerson.length },
  }),
})

/**
 * Ends a running measurement, and deletes the result of one that has ended.
 *
 * @throws HttpError 409 if this server has no measurement of the gallery.
 */
export const discardMeasurement = defineWrite(path, {
  method: 'DELETE',
  auditAction: 'calibration.discard',
  isDoneByPrepare: true,
  prepare: async (call) => {
    const { store, measurements } = call.services
    const project = await store.read((tx) => requireProject(tx, call))
    if (!(await measurements.discard(galleryOf(call, project))))
      throw new HttpError(409, 'This server has no calculation for this gallery.')
    return project
  },
  handle: async ({ prepared: { projectId, galleryId } }) => ({
    response: undefined,
    target: projectId,
    detail: { galleryId },
  }),
})

/** Makes the measured table the one of the gallery: all its similarities are rates of this table. */
export const applyMeasurement = defineWrite('/projects/:projectId/calibration/apply', {
  auditAction: 'calibration.apply',
  body: z.strictObject({ measurementId: id, confirm: z.string().max(128) }),
  response: z.object({ calibrationId: z.string() }),
  handle: async (call, { tx }) => {
    const { services, identity, body } = call
    const project = await requireProject(tx, call)
    requireConfirmedName(project, body.confirm)
    const found = services.measurements.find(galleryOf(call, project))
    if (found?.state !== 'measured' || found.measurementId !== body.measurementId)
      throw new HttpError(409, 'The result is no longer available. Calculate it again.')
    const change = { atMs: services.clock(), by: identity.name }
    const { applied, detail } = await services.applyMeasuredTable(tx, found.result, change)
    const { calibrationId } = applied
    return {
      response: { calibrationId },
      target: project.projectId,
      detail,
      afterCommit: () => refreshTables(services),
    }
  },
})

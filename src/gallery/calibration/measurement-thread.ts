/** The thread of `measurements.ts`: reads the templates of one gallery, compares them and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { runAsAccount } from '../../lib/account-context.ts'
import { dayOf, formatUtc } from '../../lib/clock.ts'
import type { Store } from '../../store/database.ts'
import { openStore } from '../../store/open-store.ts'
import { checkStoredGallery, onlyUrgent } from '../health/check-stored-gallery.ts'
import { calibrateGallery } from './measure/calibrate-gallery.ts'
import { CalibrationRefusal } from './measure/calibration-refusal.ts'
import { countedRates } from './measure/sorted-scores.ts'
import type {
  MeasurementMessage,
  MeasurementProgress,
  MeasurementThreadData,
} from './measurements.ts'
import { scoreDistribution } from './score-distribution.ts'
import { readGallery } from './read-templates.ts'

const port = parentPort
const { location, masterKeyFile, kind, request } = workerData as MeasurementThreadData
const post = (message: MeasurementMessage): void => port?.postMessage(message)
const store = await openStore(location)
try {
  // The row policies of PostgreSQL apply to this account.
  post(
    await runAsAccount(request.accountId, () =>
      kind === 'health' ? check(store) : measure(store),
    ),
  )
} catch (error) {
  if (!(error instanceof CalibrationRefusal)) throw error
  post({ state: 'refused', reason: error.message })
} finally {
  await store.close()
}

async function measure(opened: Store): Promise<MeasurementMessage> {
  const { galleryId, shipped, samePerson } = request
  const nowUtc = formatUtc((opened.timeOfDay ?? Date.now)())
  const filter = { galleryId, modelId: shipped.modelId, nowUtc }
  const onProgress = reportProgress('templates')
  const templates = await readGallery(filter, { store: opened, masterKeyFile, onProgress })
  const { calibration, report, scores } = calibrateGallery(templates, {
    galleryId,
    shipped,
    exclude: samePerson.map(([subjectA, subjectB], index) => ({
      place: `samePerson.${index}`,
      subjectA,
      subjectB,
    })),
    downTo: undefined,
    measuredOn: dayOf(nowUtc),
    onProgress: reportProgress('pairs'),
  })
  const chart = {
    curve: countedRates(scores),
    distribution: scoreDistribution(templates, scores),
  }
  return { state: 'measured', result: { calibration, report, ...chart } }
}

async function check(opened: Store): Promise<MeasurementMessage> {
  const { galleryId, shipped } = request
  const result = await checkStoredGallery(opened, {
    galleryId,
    shipped,
    masterKeyFile,
    onTemplates: reportProgress('templates'),
    onProgress: reportProgress('pairs'),
  })
  return { state: 'measured', result: onlyUrgent(result) }
}

/** Sends at most one message per percent. */
function reportProgress(step: MeasurementProgress['step']) {
  let percent = -1
  return (done: number, total: number): void => {
    const reached = Math.floor((100 * done) / Math.max(1, total))
    if (reached === percent) return
    percent = reached
    post({ state: 'running', progress: { step, done, total } })
  }
}

import { judgeSequences } from '../../evaluation/challenge/judge-sequences.ts'
import { readSequences } from '../../evaluation/challenge/read-sequences.ts'
import {
  createSequenceReport,
  type SequenceKindReport,
  type SequenceReport,
} from '../../evaluation/challenge/sequence-report.ts'
import { readRecognizerCalibration } from '../../start/active-models.ts'
import { showProgress } from '../command.ts'
import { openVision, type EvaluationValues } from './open-vision.ts'

/** Runs `facegate evaluate liveness` for a folder of sequences: responses to challenges. */
export async function runSequences({ folder, json, models }: EvaluationValues): Promise<void> {
  const sequences = await readSequences(folder)
  await using vision = await openVision(models)
  const calibration = await readRecognizerCalibration(vision.modelSet.recognizer)
  const { analyzeImage } = vision
  const results = await showProgress('sequences', (onProgress) =>
    judgeSequences(sequences, { analyzeImage, calibration }, onProgress),
  )
  const report = createSequenceReport(results)
  console.log(json ? JSON.stringify(report) : toText(report))
}

function toText({ kinds, errors }: SequenceReport): string {
  return [
    'CHALLENGES (a sequence can have several reasons)',
    ...kinds.map(toLine),
    ...errors.map(({ folder, kind, reasons }) =>
      reasons.length === 0
        ? `attack passed    ${folder} (${kind})`
        : `live refused     ${folder}: ${reasons.join(', ')}`,
    ),
  ].join('\n')
}

function toLine({
  kind,
  sequences,
  passed,
  unusable,
  reasons,
  otherReason,
}: SequenceKindReport): string {
  const counts = [
    ...Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`),
    ...(unusable > 0 ? [`without a face ${unusable}`] : []),
    ...(otherReason > 0 ? [`with another reason than labelled ${otherReason}`] : []),
  ]
  const share = ((100 * passed) / sequences).toFixed(1)
  return `  ${kind}: ${sequences} sequences, passed ${passed} (${share} %)${counts.map((text) => `, ${text}`).join('')}`
}

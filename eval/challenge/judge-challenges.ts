/**
 * Judges sequences of frames as responses to challenges, by the largest face of each frame:
 *
 *   node eval/challenge/judge-challenges.ts <folder> [--json]
 *
 * <folder>/labels.csv has the columns folder (with the frames of one sequence, in the order of their
 * names), label ("live", or the kind of attack), steps (separated by spaces: turnLeft, turnRight,
 * lookUp, lookDown) and, optionally, reason (those that an attack should have). Prints for each label how
 * many sequences passed, and the reasons of the others. The models are those of the service
 * (`DATA_DIR`). `draw-challenge-attacks.ts` draws such a folder.
 */
import { openVision } from '../../src/cli/evaluate/open-vision.ts'
import { showProgress } from '../../src/cli/command.ts'
import { readRecognizerCalibration } from '../../src/start/active-models.ts'
import { judgeSequences } from './sequences/judge-sequences.ts'
import { readSequences } from './sequences/read-sequences.ts'
import {
  createSequenceReport,
  type SequenceKindReport,
  type SequenceReport,
} from './sequences/sequence-report.ts'

const [folder, format] = process.argv.slice(2)
if (!folder)
  throw new Error('the folder is missing; run node eval/challenge/judge-challenges.ts <folder>')
const sequences = await readSequences(folder)
await using vision = await openVision([])
const calibration = await readRecognizerCalibration(vision.modelSet.recognizer)
const { analyzeImage } = vision
const results = await showProgress('sequences', (onProgress) =>
  judgeSequences(sequences, { analyzeImage, calibration }, onProgress),
)
const report = createSequenceReport(results)
console.log(format === '--json' ? JSON.stringify(report) : toText(report))

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

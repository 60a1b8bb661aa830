import { UsageError, type CliCommand } from '../command.ts'
import { parseArguments, requireArgument, text } from '../options.ts'
import { runAttributes } from './run-attributes.ts'
import { runDetection } from './run-detection.ts'
import { runLiveness } from './run-liveness.ts'
import { runVerification } from './run-verification.ts'

export const evaluate: CliCommand = {
  name: 'evaluate',
  summary: 'measure the accuracy on your own labelled images',
  usage: `facegate evaluate detection <folder> [--models <pack>] [--json]

  <folder>/labels.csv has the columns file, face_count and, optionally, boxes
  (left top width height in pixels, for each face). Prints recall, false positives
  and counts. A box counts as found at IoU >= 0.3.

facegate evaluate verification <folder|pairs.csv> [--models <pack>] [--json]
                               [--out <curve.png|curve.svg>]
                               [--calibrate <calibration.json|folder of a pack>]

  <folder> has one folder per person. pairs.csv has the columns fileA, fileB (relative
  to the list; their folders identify the people) and same (1 or 0). Compares the face
  nearest the centre of each image with every other. Prints accuracy, areas under the
  curve, acceptance rates and search rates, for the scores of the service ("corrected")
  and for the distance alone ("raw"), the rates at the thresholds of the service, and
  the pairs that most likely have a wrong label. groups.csv beside the images has the
  columns person or file, and group: then the rates are also printed by group. --out
  draws the curve. --calibrate writes the calibration from this set. With the folder of
  a pack, whose recognizer --models must select, the calibration is stored in the pack,
  with a cohort if the recognizer has none. The service can use the recognizer then.

facegate evaluate liveness <folder> [--models <pack>] [--json]
                           [--out <curve.png|curve.svg>]

  <folder> has a folder "live" and one folder per kind of attack, or labels.csv with the
  columns file and label ("live", or the kind of attack). Prints APCER for each kind,
  BPCER and ACER (ISO/IEC 30107-3), for the results of svc.liveness and by score alone,
  at the thresholds of the selected models. Uncertain results are split by reason. --out
  draws the DET curves.

  For challenges, labels.csv has the columns folder (with the frames of one sequence, in
  the order of their names), label, steps (separated by spaces: turnLeft, turnRight,
  lookUp, lookDown) and, optionally, reason (those that an attack should have). Prints
  for each label how many sequences passed, and the reasons of the others.

facegate evaluate attributes <folder> [--models <pack>] [--json]
                             [--out <tables.png|tables.svg>]

  <folder>/labels.csv has the columns file and any of age (years), gender (male or
  female) and expression (neutral, happy, sad, angry, fearful, disgusted or
  surprised). An empty cell is not evaluated. Uses the face nearest the centre. Prints
  the error of the age by age group, and tables of gender and expression. --out draws
  them.

A missing or damaged image is counted and named; it does not end the evaluation.

--models selects other models than those of the service: builtin, the folder of a pack,
the name of an installed pack, or pack/model for one of its models. Repeat it for
another role.`,
  run: async (args) => {
    const { values, positionals } = parseArguments(args, {
      out: text,
      calibrate: text,
      models: { type: 'string', multiple: true, default: [] },
    })
    const [kind, ...rest] = positionals
    if (!isKind(kind))
      throw new UsageError(
        `${kind ?? 'nothing'} cannot be evaluated; use one of ${kinds.join(', ')}`,
      )
    const source = requireArgument(rest, '<folder>')
    const { json, out, calibrate, models } = values
    if (kind === 'verification') return runVerification(source, { json, out, calibrate, models })
    if (calibrate !== undefined)
      throw new UsageError('--calibrate is only valid for evaluate verification')
    if (kind === 'liveness') return runLiveness(source, { json, out, models })
    if (kind === 'attributes') return runAttributes(source, { json, out, models })
    if (out !== undefined) throw new UsageError('--out is not valid for evaluate detection')
    return runDetection(source, { json, models })
  },
}

const kinds = ['detection', 'verification', 'liveness', 'attributes'] as const

function isKind(kind: string | undefined): kind is (typeof kinds)[number] {
  return kinds.some((each) => each === kind)
}

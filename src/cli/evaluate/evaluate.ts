import { parseArgs } from 'node:util'
import { UsageError, type CliCommand } from '../command.ts'
import { runAttributes } from './run-attributes.ts'
import { runDetection } from './run-detection.ts'
import { runLiveness } from './run-liveness.ts'
import { runVerification } from './run-verification.ts'

export const evaluate: CliCommand = {
  name: 'evaluate',
  summary: 'measure accuracy on your own labelled pictures',
  usage: `facegate evaluate detection <folder> [--models <pack>] [--json]

  <folder>/labels.csv has the columns file, face_count and, optionally, boxes
  (left top width height in pixels, for each face). Prints recall, false positives
  and counts; a box is found at IoU >= 0.3.

facegate evaluate verification <folder|pairs.csv> [--models <pack>] [--json]
                               [--out <curve.png|curve.svg>]
                               [--calibrate <table.json|folder of a pack>]

  <folder> has one folder for each person in it; pairs.csv has the columns fileA,
  fileB (relative to it; their folders name the people) and same (1 or 0). Compares
  the face nearest the centre of each picture with every other. Prints accuracy,
  areas and acceptance rates, and how well people are found in galleries, by the
  score of the service ("corrected") and by distance alone ("raw"). --out draws the
  curve; --calibrate writes the table of similarities that this set gives. With the
  folder of a pack, whose recognizer --models must name, it goes there, with a
  cohort if the recognizer has none: then the recognizer may serve.

facegate evaluate liveness <folder> [--models <pack>] [--json]
                           [--out <curve.png|curve.svg>]

  <folder> has a folder "live" and one for each kind of attack in it, or labels.csv
  with the columns file and label ("live", or what the attack is). Prints APCER for
  each kind, BPCER and ACER (ISO/IEC 30107-3), as svc.liveness answers and by score
  alone, at the thresholds of the networks in use. --out draws the DET curves.

facegate evaluate attributes <folder> [--models <pack>] [--json]
                             [--out <tables.png|tables.svg>]

  <folder>/labels.csv has the columns file and any of age (years), gender (male or
  female) and expression (neutral, happy, sad, angry, fearful, disgusted or
  surprised); an empty cell is not judged. Reads the face nearest the centre. Prints
  the error of the age by age, and tables of gender and expression. --out draws them.

--models names what to look with in place of the models that the service uses:
builtin, the folder of a pack or the name of an installed one; pack/model for one
of its models. Again for another role.`,
  run: async (args) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        out: { type: 'string' },
        calibrate: { type: 'string' },
        models: { type: 'string', multiple: true, default: [] },
      },
    })
    const [what, place, ...rest] = positionals
    if (!isKind(what)) throw new UsageError(`cannot evaluate ${what ?? 'nothing'}`)
    if (place === undefined || rest.length > 0) throw new UsageError('name one folder')
    const { json, out, calibrate, models } = values
    if (what === 'verification') return runVerification(place, { json, out, calibrate, models })
    if (calibrate !== undefined) throw new UsageError('--calibrate belongs to verification')
    if (what === 'liveness') return runLiveness(place, { json, out, models })
    if (what === 'attributes') return runAttributes(place, { json, out, models })
    if (out !== undefined) throw new UsageError('--out does not belong to detection')
    return runDetection(place, { json, models })
  },
}

const kinds = ['detection', 'verification', 'liveness', 'attributes'] as const

function isKind(what: string | undefined): what is (typeof kinds)[number] {
  return kinds.some((kind) => kind === what)
}

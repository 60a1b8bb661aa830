import { parseArgs } from 'node:util'
import { UsageError, type Command } from './command.ts'
import { runDetection } from './evaluate-detection.ts'
import { runVerification } from './evaluate-verification.ts'

export const evaluate: Command = {
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
    if (what !== 'detection' && what !== 'verification')
      throw new UsageError(`cannot evaluate ${what ?? 'nothing'}`)
    if (place === undefined || rest.length > 0) throw new UsageError('name one folder')
    const { json, out, calibrate, models } = values
    if (what === 'verification') return runVerification(place, { json, out, calibrate, models })
    if (out !== undefined || calibrate !== undefined)
      throw new UsageError('--out and --calibrate belong to verification')
    return runDetection(place, { json, models })
  },
}

import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { anyText, filePath, folderPath } from '../command-line/value-kinds.ts'
import { optional, repeatable, required } from '../options.ts'

const models = repeatable(
  '<pack>',
  'other models than those of the service: builtin, the folder of a pack, the name of an installed pack, or pack/model; repeat it for another role',
  anyText,
)
const folder = required('<folder>', 'folder of labelled images', folderPath)
const unusable = 'A missing or damaged image is counted and named; it does not end the evaluation.'

export const evaluate = defineGroup({
  name: 'evaluate',
  summary: 'measure the accuracy on your own labelled images',
  description: `The command starts separate vision workers: a running server is neither needed nor affected. ${unusable}`,
  commands: [
    defineCommand({
      name: 'detection',
      summary: 'measure recall, false positives and counts of faces',
      arguments: { folder },
      options: { models },
      description:
        '<folder>/labels.csv has the columns file, face_count and, optionally, boxes (left top width height in pixels, for each face). A box counts as found at IoU >= 0.3.',
      run: async (values) => (await import('./run-detection.ts')).runDetection(values),
    }),
    defineCommand({
      name: 'verification',
      summary: 'measure how well faces of one person match, and those of different people do not',
      arguments: {
        source: required(
          '<folder|pairs.csv>',
          'one folder per person; or a list with the columns fileA, fileB and same (1 or 0)',
          filePath,
        ),
      },
      options: {
        out: optional('<file>', 'draw the curve (.png or .svg)', filePath),
        calibrate: optional(
          '<file|folder>',
          'write the calibration from this set to a file, or into the folder of a pack whose recognizer --models selects',
          filePath,
        ),
        models,
      },
      description: [
        'Compares the face nearest the centre of each image with every other. Prints accuracy, areas under the curve, acceptance rates and search rates, for the scores of the service ("corrected") and for the distance alone ("raw"), the rates at the thresholds of the service, and the pairs that most likely have a wrong label. Files of a list are relative to it; their folders identify the people.',
        'groups.csv beside the images has the columns person or file, and group: then the rates are also printed by group. A calibration written into a pack gets a cohort if the recognizer has none; the service can use the recognizer then.',
      ].join('\n'),
      run: async (values) =>
        void (await (await import('./run-verification.ts')).runVerification(values)),
    }),
    defineCommand({
      name: 'liveness',
      summary: 'measure the rates of attacks and of live people (ISO/IEC 30107-3)',
      arguments: { folder },
      options: {
        out: optional('<file>', 'draw the DET curves (.png or .svg)', filePath),
        models,
      },
      description:
        '<folder> has a folder "live" and one folder per kind of attack, or labels.csv with the columns file and label ("live", or the kind of attack). Prints APCER for each kind, BPCER and ACER, for the results of svc.liveness and by score alone, at the thresholds of the selected models. Uncertain results are split by reason.',
      run: async (values) => (await import('./run-liveness.ts')).runLiveness(values),
    }),
    defineCommand({
      name: 'attributes',
      summary: 'measure the error of age, gender and expression',
      arguments: { folder },
      options: { out: optional('<file>', 'draw the tables (.png or .svg)', filePath), models },
      description:
        '<folder>/labels.csv has the columns file and any of age (years), gender (male or female) and expression (neutral, happy, sad, angry, fearful, disgusted or surprised). An empty cell is not evaluated. Uses the face nearest the centre. Prints the error of the age by age group, and tables of gender and expression.',
      run: async (values) => (await import('./run-attributes.ts')).runAttributes(values),
    }),
  ],
})

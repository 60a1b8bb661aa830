import type { PackManifestInput } from '../pack-manifest.ts'

const minivisionUrl =
  'https://raw.githubusercontent.com/minivision-ai/Silent-Face-Anti-Spoofing/b6d5f04ad78778917853b25c778acef6d5626d15'

const minivisionTerms = {
  licence: {
    name: 'Apache-2.0',
    commercialUse: 'allowed',
    note: 'LICENSE file of the repository, which contains the weights.',
  },
  notFor:
    'The only protection of anything valuable; masks, good screens, injected pictures and other ' +
    'unmeasured attacks; grey pictures and faces without surroundings (docs/liveness.md).',
} as const

/** The input and decoding of all networks of minivision; the crop factor differs. */
const miniFasNet = {
  input: { name: 'input', width: 80, height: 80, colourOrder: 'BGR' },
  decoding: { kind: 'antispoof', crop: 'stretched', classes: 3, liveClass: 1, logits: true },
} as const

/**
 * Small networks whose licence allows commercial use: a detector and two liveness networks against
 * prints and screens, whose scores are averaged. Crop factors, colour order and classes are those of
 * `test.py` and `src/generate_patches.py` of minivision's repository.
 */
export const recommended: PackManifestInput = {
  schema: 1,
  name: 'recommended',
  description:
    'A faster detector and two liveness networks against prints and screens, 4 MB, for commercial ' +
    'use. Add a recognizer of your choice.',
  models: [
    {
      id: 'yunet-n',
      version: '1',
      role: 'detector',
      file: 'yunet_n_dynamic.onnx',
      sha256: '104ee26c71d5c270ce79a6b3dced91c91013260d29a6bf18f9296c5b8c4c2b12',
      source: {
        url: 'https://raw.githubusercontent.com/ShiqiYu/libfacedetection.train/dca340aa082c71081a68d17db8e58b33a58a914b/onnx/yunet_n_dynamic.onnx',
        sha256: '104ee26c71d5c270ce79a6b3dced91c91013260d29a6bf18f9296c5b8c4c2b12',
        bytes: 322_906,
        format: { kind: 'onnx' },
      },
      licence: { name: 'Apache-2.0', commercialUse: 'allowed' },
      provenance: {
        origin: 'YuNet-n, ShiqiYu/libfacedetection.train',
        trainingData: 'WIDER FACE (its pictures have research-only terms)',
      },
      input: { name: 'input', width: 320, height: 320, colourOrder: 'BGR' },
      decoding: {
        kind: 'yunet',
        scoreThreshold: 0.5,
        certainScore: 0.8,
        // Held out: 196 of 205 faces and 1 false instead of 177 and 0; 199 and 3 below 0.85.
        confirmBelow: 0.9,
        overlapMax: 0.35,
        // Medians over 416 faces that the built-in detector also found (docs/accuracy.md).
        boxToFace: { left: -0.048, top: 0.063, width: 1.075, height: 0.902 },
      },
      measured: [
        {
          what: 'faces found, false detections per picture',
          on: '205 labelled faces',
          value: '200–203 of 205, 0.03–0.11',
        },
        { what: 'one picture, one thread', on: '320×320', value: '3.4 ms' },
        {
          what: 'pictures with a face, faces of 40 px or more',
          on: '807 press photographs (LFW)',
          value: '807; 887',
          how: 'node eval/measure-faces.ts <LFW images> --models recommended',
        },
        {
          what: 'pictures with the exact number of faces, false detections (built-in models: the same)',
          on: '18 pictures',
          value: '17 of 18, none',
          how: 'facegate evaluate detection <folder> --models recommended',
        },
      ],
      notFor: 'Faces smaller than about 10 px after the picture is scaled to 320 px.',
    },
    {
      id: 'minifasnet-v2',
      version: '1',
      role: 'liveness',
      file: '2.7_80x80_MiniFASNetV2.onnx',
      source: {
        url: `${minivisionUrl}/resources/anti_spoof_models/2.7_80x80_MiniFASNetV2.pth`,
        sha256: 'a5eb02e1843f19b5386b953cc4c9f011c3f985d0ee2bb9819eea9a142099bec0',
        bytes: 1_849_453,
        format: { kind: 'pytorch', architecture: 'MiniFASNetV2' },
      },
      ...minivisionTerms,
      provenance: {
        origin: 'MiniFASNetV2, minivision-ai/Silent-Face-Anti-Spoofing',
        trainingData: 'not published',
      },
      input: miniFasNet.input,
      decoding: { ...miniFasNet.decoding, cropFactor: 2.7 },
      measured: [
        {
          what: 'ACER; APCER at BPCER ≤ 0.6 %',
          on: 'NUAA (prints of 2010), ten held-out people',
          value: '0.003; 0',
        },
        {
          what: 'live faces rejected at 0.5, both networks (quoted for another crop: 20 %)',
          on: '807 press photographs (LFW)',
          value: '8.9 %',
          how: 'facegate evaluate liveness drawn --models recommended (docs/liveness.md)',
        },
        {
          what: 'prints and screens classified as live; live people classified as spoofs; undecided; both networks',
          on: 'simulated attacks and photographs of 435 people',
          value: '10.9, 10.8; 6.6; 11.4 %',
          how: 'facegate evaluate liveness drawn --models recommended (docs/liveness.md)',
        },
      ],
    },
    {
      id: 'minifasnet-v1se',
      version: '1',
      role: 'liveness',
      file: '4_0_0_80x80_MiniFASNetV1SE.onnx',
      source: {
        url: `${minivisionUrl}/resources/anti_spoof_models/4_0_0_80x80_MiniFASNetV1SE.pth`,
        sha256: '84ee1d37d96894d5e82de5a57df044ef80a58be2b218b5ed7cdfd875ec2f5990',
        bytes: 1_856_130,
        format: { kind: 'pytorch', architecture: 'MiniFASNetV1SE' },
      },
      ...minivisionTerms,
      provenance: {
        origin: 'MiniFASNetV1SE, minivision-ai/Silent-Face-Anti-Spoofing',
        trainingData: 'not published',
      },
      input: miniFasNet.input,
      decoding: { ...miniFasNet.decoding, cropFactor: 4 },
      measured: [
        {
          what: 'ACER; APCER at BPCER ≤ 0.6 %',
          on: 'NUAA (prints of 2010), ten held-out people',
          value: '0.000; 0',
        },
      ],
    },
  ],
}

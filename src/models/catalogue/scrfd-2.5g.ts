import type { PackManifestInput } from '../pack-manifest.ts'

/** The 2.5 GFLOPS detector of InsightFace with five points; the constants are from its `scrfd.py`. */
export const scrfd25g: PackManifestInput = {
  schema: 1,
  name: 'scrfd-2.5g',
  description:
    'A detector with the most accurate five points of all measured here; not for commercial use.',
  models: [
    {
      id: 'scrfd-2.5g',
      version: '1',
      role: 'detector',
      file: 'scrfd_2.5g_bnkps.onnx',
      sha256: 'bc24bb349491481c3ca793cf89306723162c280cb284c5a5e49df3760bf5c2ce',
      source: {
        url: 'https://github.com/visomaster/visomaster-assets/releases/download/v0.1.0/scrfd_2.5g_bnkps.onnx',
        sha256: 'bc24bb349491481c3ca793cf89306723162c280cb284c5a5e49df3760bf5c2ce',
        bytes: 3_290_207,
        format: { kind: 'onnx' },
      },
      licence: {
        name: 'InsightFace: non-commercial research purposes only',
        commercialUse: 'forbidden',
        note: "The download is a copy; InsightFace's original folder requires a browser.",
      },
      provenance: {
        origin: 'SCRFD-2.5GF with key points, deepinsight/insightface',
        trainingData: 'WIDER FACE (its pictures have research-only terms)',
      },
      input: {
        name: 'input.1',
        width: 320,
        height: 320,
        colourOrder: 'RGB',
        mean: [127.5, 127.5, 127.5],
        scale: 1 / 128,
      },
      decoding: {
        kind: 'scrfd',
        anchorsPerCell: 2,
        scoreThreshold: 0.25,
        certainScore: 0.6,
        // Of 808 drawn masks 750 instead of 628 are found, without a false detection (docs/accuracy.md).
        confirmBelow: 0.7,
        overlapMax: 0.4,
        // Medians over 415 faces that the built-in detector also found (docs/accuracy.md).
        boxToFace: { left: -0.042, top: 0.063, width: 1.059, height: 0.909 },
      },
      measured: [
        {
          what: 'faces found',
          on: '205 labelled faces',
          value: '201–203 of 205; none on the two pictures without a face',
        },
        { what: 'one picture, one thread', on: '320×320', value: '22 ms' },
        {
          what: 'pictures with the exact number of faces, false detections (built-in models: the same)',
          on: '18 pictures',
          value: '17 of 18, none',
          how: 'facegate evaluate detection <folder> --models scrfd-2.5g',
        },
      ],
      notFor: 'Any commercial use.',
    },
  ],
}

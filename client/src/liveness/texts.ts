import type { MovementHint } from './guidance.ts'
import type { LivenessCause, LivenessProblem, LivenessStep } from './liveness-check.ts'

/** Every text of the component, for translation. */
export type LivenessTexts = {
  readonly title: string
  readonly introduction: string
  readonly start: string
  readonly retry: string
  readonly camera: string
  /** `{count}` is replaced. */
  readonly attemptsLeft: string
  readonly lastAttempt: string
  readonly openingCamera: string
  readonly lookStraight: string
  readonly steps: Readonly<Record<LivenessStep, string>>
  /** `{number}` and `{count}` are replaced. */
  readonly progress: string
  /** Shown while the person moves. */
  readonly guidance: Readonly<Record<MovementHint | 'good', string>>
  readonly checking: string
  readonly passed: string
  readonly problems: Readonly<Record<LivenessProblem, string>>
  /** Texts of the reasons of a failed check; a reason without a text is not shown. */
  readonly reasons: Readonly<Record<string, string>>
  /** Texts of the causes of a failed attempt. `{degrees}`, `{degreesMin}` and `{degreesMax}` are replaced. */
  readonly causes: Readonly<Record<LivenessCause, string>>
}

export const englishTexts: LivenessTexts = {
  title: 'Liveness check',
  introduction:
    'Hold the camera at eye level, in good light. Follow each instruction and hold the position until the next one.',
  start: 'Start',
  retry: 'Try again',
  camera: 'Camera',
  attemptsLeft: '{count} attempts are left.',
  lastAttempt: 'One attempt is left.',
  openingCamera: 'Opening the camera. Allow the camera if the browser requests it.',
  lookStraight: 'Look straight into the camera',
  steps: {
    turnLeft: 'Turn your head to your left',
    turnRight: 'Turn your head to your right',
    lookUp: 'Look up',
    lookDown: 'Look down',
  },
  progress: 'Step {number} of {count}',
  guidance: {
    further: 'A little further',
    back: 'A little back',
    hold: 'Hold this position',
    otherWay: 'Move in the other direction',
    good: 'Good',
  },
  checking: 'Checking the pictures',
  passed: 'The check was passed.',
  problems: {
    insecurePage:
      'Browsers allow the camera only on pages with https or on localhost. Open this page with https.',
    cameraUnsupported:
      'This app gives web pages no access to the camera. Open this page in a browser.',
    cameraRefused:
      'The camera is not allowed for this page. Allow it in the settings of the browser, then try again.',
    cameraMissing: 'No camera was found. Connect a camera, then try again.',
    cameraBusy:
      'The camera does not start. Close other programs that use the camera, then try again.',
    cameraStopped: 'The camera stopped during the check. Connect it again, then try again.',
    timeOver: 'The time for this check is over. Try again.',
    pageHidden: 'The page was hidden during the check. Keep it visible and try again.',
    serverFailed: 'The check could not be completed: the server did not respond. Try again.',
    notReady: 'Your face could not be seen clearly. Try again.',
    notLive: 'The check was not passed.',
  },
  reasons: {
    CHALLENGE_NOT_FOLLOWED:
      'A movement was not recognized. Turn your head further and hold it until the next instruction.',
    DIFFERENT_PERSON: 'The pictures do not show one person. Only one person may be in the picture.',
    FLAT_FACE: 'The pictures look like a photograph of a face.',
    FRAMES_IDENTICAL: 'The pictures of the camera did not change.',
    INCONCLUSIVE: 'The first picture was not clear enough. Look straight into the camera.',
    NO_FACE_FOUND: 'A picture shows no face. Keep your face inside the frame.',
    MULTIPLE_FACES: 'More than one face is in the picture. Only one person may be in the picture.',
    LOW_QUALITY: 'The pictures are not clear enough. Hold still in good light.',
    FACE_TOO_SMALL: 'The face is too small. Move closer to the camera.',
  },
  causes: {
    NO_FACE: 'No face was seen. Keep your face inside the frame.',
    TOO_FAR: 'Move closer to the camera.',
    TOO_NEAR: 'Move away from the camera.',
    TOO_DARK: 'It is too dark. Turn on a light or face a window.',
    TOO_BRIGHT: 'It is too bright. Avoid direct light on your face.',
    MOVED_TOO_LITTLE:
      'Turn your head further: it moved {degrees} degrees, and {degreesMin} are required.',
    MOVED_TOO_FAR:
      'Turn your head less far: it moved {degrees} degrees, and at most {degreesMax} were requested.',
    WRONG_DIRECTION: 'The head moved in another direction than requested.',
    TOO_FAST: 'The picture was blurred. Move more slowly and hold the position.',
    COVERED: 'Part of the face was covered. Uncover your eyes and your mouth.',
    ANOTHER_PERSON: 'More than one person was seen. Only one person may be in the picture.',
    LEFT_PICTURE: 'The face left the picture. Keep your whole face inside the frame.',
    PICTURE_OF_PICTURE: 'The pictures look like a photograph of a face.',
  },
}

/** Some of the texts, also within the groups of texts. */
export type ReplacedTexts = {
  readonly [Name in keyof LivenessTexts]?: LivenessTexts[Name] extends string
    ? string
    : Partial<LivenessTexts[Name]>
}

/** Returns the English texts with replacements; later ones take precedence. */
export function mergeTexts(...replacements: readonly ReplacedTexts[]): LivenessTexts {
  const merged: Record<string, unknown> = { ...englishTexts }
  for (const [name, text] of replacements.flatMap((texts) => Object.entries(texts)))
    merged[name] = typeof text === 'string' ? text : { ...Object(merged[name]), ...text }
  // Each replacement has the type of the text that it replaces.
  return merged as LivenessTexts
}

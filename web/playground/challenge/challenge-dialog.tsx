import { Modal } from '@mantine/core'
import { useEffect, useEffectEvent, useRef } from 'react'
import {
  FacegateLiveness,
  type JudgedAttempt,
  type SessionProgress,
} from '../../../client/src/liveness/index.ts'
import { useApi } from '../../api/use-api.ts'
import { toCall, toRun, type PlaygroundRun } from '../run.ts'
import { readImageFile } from '../images/playground-image.ts'
import { toJudgedAttempt } from './to-judged-attempt.ts'

type Props = {
  readonly projectId: string
  readonly params: Readonly<Record<string, unknown>>
  readonly debug: boolean
  readonly onResult: (run: PlaygroundRun) => void
  readonly onClose: () => void
}

/** Runs the component of `facegate-client/liveness` with the camera of the computer. */
export function ChallengeDialog(props: Props) {
  return (
    <Modal
      opened
      onClose={props.onClose}
      title="Liveness session"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close the session' }}
    >
      <ChallengePanel {...props} />
    </Modal>
  )
}

/** A separate component, because the content of a dialog is added to the page after the dialog. */
function ChallengePanel({ projectId, params, debug, onResult, onClose }: Props) {
  const api = useApi()
  const container = useRef<HTMLDivElement>(null)
  const sendFrames = useEffectEvent(
    async (session: SessionProgress, frames: readonly Blob[]): Promise<JudgedAttempt> => {
      const files = frames.map((frame, index) => new File([frame], `frame-${index}.jpg`, frame))
      const images = await Promise.all(files.map(readImageFile))
      const answer = { ...params, livenessSessionId: session.sessionId }
      const parts = { params: answer, images, debug }
      const body = { projectId, call: toCall('svc.liveness', parts) }
      const response = await api.send('POST', '/playground', { body })
      onResult(toRun('svc.liveness', parts, response))
      return toJudgedAttempt(session, response)
    },
  )
  const open = useEffectEvent(() =>
    api.send('POST', '/playground/liveness-sessions', { body: { projectId } }),
  )
  const close = useEffectEvent(onClose)
  useEffect(() => {
    const element = new FacegateLiveness()
    // The calls of the playground are authenticated by the sign-in, and not by a session token.
    element.transport = {
      canReopen: true,
      open: () => open(),
      sendFrames: (session, frames) => sendFrames(session, frames),
    }
    element.addEventListener('passed', () => close())
    container.current?.append(element)
    return () => element.remove()
  }, [])
  return <div ref={container} />
}

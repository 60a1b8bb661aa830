import { Modal } from '@mantine/core'
import { useEffect, useEffectEvent, useRef } from 'react'
import {
  runLivenessCheck,
  type LivenessVerdict,
  type RequestedSession,
} from '../../../client/src/liveness/index.ts'
import { useApi } from '../../api/use-api.ts'
import { toCall, toRun, type PlaygroundRun } from '../run.ts'
import { readImageFile } from '../images/playground-image.ts'
import { toVerdict } from './to-verdict.ts'

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
  const submitFrames = useEffectEvent(
    async (session: RequestedSession, frames: readonly Blob[]): Promise<LivenessVerdict> => {
      const files = frames.map((frame, index) => new File([frame], `frame-${index}.jpg`, frame))
      const images = await Promise.all(files.map(readImageFile))
      const answer = { ...params, livenessSessionId: session.sessionId }
      const parts = { params: answer, images, debug }
      const body = { projectId, call: toCall('svc.liveness', parts) }
      const response = await api.send('POST', '/playground', { body })
      onResult(toRun('svc.liveness', parts, response))
      return toVerdict(response)
    },
  )
  const createSession = useEffectEvent(() =>
    api.send('POST', '/playground/liveness-sessions', { body: { projectId } }),
  )
  const close = useEffectEvent(onClose)
  useEffect(() => {
    const controller = new AbortController()
    if (!container.current) return undefined
    const check = runLivenessCheck({
      container: container.current,
      createSession: () => createSession(),
      submitFrames: (session, frames) => submitFrames(session, frames),
      signal: controller.signal,
    })
    // The signal aborts when the dialog is closed.
    check.then(close, () => {})
    return () => controller.abort()
  }, [])
  return <div ref={container} />
}

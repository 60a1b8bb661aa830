import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'

type Props = {
  readonly onCapture: (file: File) => void
  readonly onClose: () => void
}

const jpegQuality = 0.95

/** Takes one picture with the camera of the computer. */
export function CameraDialog({ onCapture: onPicture, onClose }: Props) {
  const video = useRef<HTMLVideoElement>(null)
  const { stream, fault } = useCamera()
  const [isRunning, setIsRunning] = useState(false)
  useEffect(() => {
    if (video.current && stream) video.current.srcObject = stream
  }, [stream])
  return (
    <Modal
      opened
      onClose={onClose}
      title="Camera"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        {fault ? (
          <Text size="sm">{fault}</Text>
        ) : (
          <div className="fg-picture">
            <video
              onPlaying={() => setIsRunning(true)}
              ref={video}
              autoPlay
              playsInline
              muted
              aria-label="What the camera sees"
            />
          </div>
        )}
        <Group justify="flex-end">
          <Button disabled={!isRunning} onClick={() => void captureImage(video.current, onPicture)}>
            Take the picture
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** The camera's stream while shown, or why there is none, in a sentence. */
function useCamera(): { readonly stream?: MediaStream; readonly fault?: string } {
  const [state, setState] = useState<ReturnType<typeof useCamera>>(() =>
    isCameraAvailable() ? {} : { fault: insecurePageText },
  )
  useEffect(() => {
    if (!isCameraAvailable()) return undefined
    let isGone = false
    const asked = navigator.mediaDevices.getUserMedia({ video: { width: { ideal: 1280 } } })
    asked.then(
      (stream) => (isGone ? stopStream(stream) : setState({ stream })),
      () => setState({ fault: cameraRefusedText }),
    )
    return () => {
      isGone = true
      // What was refused has nothing to stop.
      asked.then(stopStream, () => {})
    }
  }, [])
  return state
}

const cameraRefusedText =
  'There is no camera, another program uses it, or the browser was not allowed to use it.'

const insecurePageText =
  'Browsers lend the camera only to pages served over https, or on localhost. Put TLS before the service, or open the console on the machine itself. Choosing a file works everywhere.'

/** On a page served over plain http the whole interface is missing. */
function isCameraAvailable(): boolean {
  return window.isSecureContext && 'mediaDevices' in navigator
}

function stopStream(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop()
}

async function captureImage(
  video: HTMLVideoElement | null,
  onPicture: (file: File) => void,
): Promise<void> {
  if (!video || video.videoWidth === 0) return
  const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight)
  canvas.getContext('2d')?.drawImage(video, 0, 0)
  const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: jpegQuality })
  onPicture(new File([blob], 'camera.jpg', { type: 'image/jpeg' }))
}

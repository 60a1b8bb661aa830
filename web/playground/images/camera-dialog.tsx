import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'

type Props = {
  readonly onCapture: (file: File) => void
  readonly onClose: () => void
}

const jpegQuality = 0.95

/** Takes one photo with the camera of the computer. */
export function CameraDialog({ onCapture, onClose }: Props) {
  const video = useRef<HTMLVideoElement>(null)
  const { stream, errorText } = useCamera()
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
        {errorText ? (
          <Text size="sm">{errorText}</Text>
        ) : (
          <div className="fg-image">
            <video
              onPlaying={() => setIsRunning(true)}
              ref={video}
              autoPlay
              playsInline
              muted
              aria-label="Camera preview"
            />
          </div>
        )}
        <Group justify="flex-end">
          <Button disabled={!isRunning} onClick={() => void captureImage(video.current, onCapture)}>
            Take photo
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** Returns the stream of the camera, or an error text. The stream stops when the dialog closes. */
function useCamera(): { readonly stream?: MediaStream; readonly errorText?: string } {
  const [state, setState] = useState<ReturnType<typeof useCamera>>(() =>
    isCameraAvailable() ? {} : { errorText: insecurePageText },
  )
  useEffect(() => {
    if (!isCameraAvailable()) return undefined
    let isClosed = false
    const streamRequest = navigator.mediaDevices.getUserMedia({ video: { width: { ideal: 1280 } } })
    streamRequest.then(
      (stream) => (isClosed ? stopStream(stream) : setState({ stream })),
      () => setState({ errorText: cameraUnavailableText }),
    )
    return () => {
      isClosed = true
      // A rejected request has no stream to stop.
      streamRequest.then(stopStream, () => {})
    }
  }, [])
  return state
}

const cameraUnavailableText =
  'Camera not available. Check that it is connected, not used by another program, and allowed in the browser.'

const insecurePageText =
  'Browsers allow the camera only over https or on localhost. Use https, open the console on localhost, or choose a file instead.'

/** Pages over plain http have no `mediaDevices`. */
function isCameraAvailable(): boolean {
  return window.isSecureContext && 'mediaDevices' in navigator
}

function stopStream(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop()
}

async function captureImage(
  video: HTMLVideoElement | null,
  onCapture: (file: File) => void,
): Promise<void> {
  if (!video || video.videoWidth === 0) return
  const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight)
  canvas.getContext('2d')?.drawImage(video, 0, 0)
  const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: jpegQuality })
  onCapture(new File([blob], 'camera.jpg', { type: 'image/jpeg' }))
}

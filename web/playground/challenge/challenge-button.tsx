import { Button } from '@mantine/core'
import { useState } from 'react'
import type { PlaygroundRun } from '../run.ts'
import { ChallengeDialog } from './challenge-dialog.tsx'

type Props = {
  readonly projectId: string
  readonly params: Readonly<Record<string, unknown>>
  readonly debug: boolean
  readonly disabled: boolean
  readonly onResult: (run: PlaygroundRun) => void
}

/** Opens the camera and runs a liveness session instead of sending chosen images. */
export function ChallengeButton({ disabled, ...props }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button variant="default" disabled={disabled} onClick={() => setIsOpen(true)}>
        Run a session
      </Button>
      {isOpen && <ChallengeDialog {...props} onClose={() => setIsOpen(false)} />}
    </>
  )
}

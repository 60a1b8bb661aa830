import type { ConsoleProject } from '../api/responses.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { ThresholdEffect } from './threshold-effect.tsx'

type Props = {
  readonly project: ConsoleProject
  /** 0 to 1. */
  readonly threshold: number
  readonly isPending: boolean
  readonly error: unknown
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Confirms a threshold at which most other people match, or most enrolled people do not. */
export function ChangeThresholdDialog({ project, threshold, ...props }: Props) {
  return (
    <ConfirmDialog
      title="Change the svc.identify threshold"
      confirmationText={String(threshold)}
      confirmLabel="Save"
      errorTitle="Couldn't save settings"
      {...props}
    >
      <p>
        {threshold < 0.8
          ? 'With a low threshold, faces of other people match subjects. A door opens to them.'
          : 'With a high threshold, enrolled people do not match their own pictures.'}
      </p>
      <ThresholdEffect project={project} threshold={threshold} />
    </ConfirmDialog>
  )
}

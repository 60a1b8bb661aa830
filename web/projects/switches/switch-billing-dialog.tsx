import type { ConsoleProject } from '../../api/responses.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { showUndo } from '../../components/confirm/undo-notification.tsx'
import { MoneyAmount } from '../../money/money-amount.tsx'
import { useSaveProject, useUndoChange } from '../project-change.ts'

type Props = { readonly project: ConsoleProject; readonly onClose: () => void }

/** Switches billing on or off, and states what the next calls cost. */
export function SwitchBillingDialog({ project, onClose }: Props) {
  const isOn = project.switches.billing
  const undo = useUndoChange(project)
  const { save, isPending, error } = useSaveProject(project, {
    onSuccess: (saved, change) => {
      onClose()
      showUndo({
        message: `Billing is ${isOn ? 'off' : 'on'}.`,
        undo: () => undo(saved, change),
        undoneMessage: `Billing is ${isOn ? 'on' : 'off'} again.`,
      })
    },
  })
  return (
    <ConfirmDialog
      title={isOn ? 'Switch billing off' : 'Switch billing on'}
      confirmationText={project.name}
      confirmLabel={isOn ? 'Switch off' : 'Switch on'}
      isPending={isPending}
      errorTitle="Couldn't switch billing"
      error={error}
      onConfirm={() => save({ switches: { billing: !isOn } })}
      onClose={onClose}
    >
      {isOn ? (
        <>
          From the next call on, no call of this project is charged or rejected for its budget. The
          request log still contains what each call would have cost. These amounts are never charged
          later. The budget of <MoneyAmount micros={project.budgetMicros} /> stays in the project.
        </>
      ) : (
        <>
          From the next call on, each call is charged to the budget of the project, which is{' '}
          <MoneyAmount micros={project.budgetMicros} />.{' '}
          {BigInt(project.budgetMicros) <= 0n
            ? 'The budget is empty: every call that costs something is rejected until funds are allocated.'
            : 'When it is exhausted, calls are rejected until funds are allocated.'}
        </>
      )}
    </ConfirmDialog>
  )
}

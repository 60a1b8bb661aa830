import { Stack, Switch } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleProject } from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { showUndo } from '../../components/confirm/undo-notification.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { useSaveProject, useUndoChange } from '../project-change.ts'
import { ChangeRetentionDialog } from '../change-retention-dialog.tsx'
import { SwitchBillingDialog } from './switch-billing-dialog.tsx'
import { StopCountingMatchesDialog } from './stop-counting-matches-dialog.tsx'
import { StopStoringVisitorsDialog } from './stop-storing-visitors-dialog.tsx'
import { StopStoringCropsDialog } from './stop-storing-crops-dialog.tsx'

type SwitchName = keyof ConsoleProject['switches']

/** The label and the effect of each switch. */
const switchTexts: Readonly<Record<SwitchName, readonly [label: string, description: string]>> = {
  gender: [
    'Gender',
    'svc.attributes and svc.analyze return a gender, estimated from the image and sometimes wrong.',
  ],
  expression: [
    'Expression',
    'svc.attributes and svc.analyze return an expression. Restricted by law in some places, such as at work in the EU.',
  ],
  storeCrops: [
    'Store crops',
    'Stores an encrypted crop of each newly enrolled face, so that a later model can create new templates. Off: stored crops are deleted.',
  ],
  autoEnroll: [
    'Enroll on verify',
    'svc.verify can add the face to a subject whose templates are all from the previous model.',
  ],
  feedback: [
    'Feedback',
    'Matches of svc.identify can be confirmed or denied. Stores an encrypted template of each matched face for the replay window, and of each denied one as long as its subject.',
  ],
  unknownPeople: [
    'Store unknown people',
    'svc.identify stores people that match no subject as visitors, and recognizes them later. Decide first whether this is lawful: the privacy guide lists the questions.',
  ],
  nearMissCrops: [
    'Keep pictures of near misses',
    'Keeps the encrypted face of calls of svc.identify and svc.verify that miss the threshold by at most 0.05. The request log shows it; each display is audited. Off: stored pictures are deleted.',
  ],
  matchDays: [
    'Count matches per day',
    'Counts for each person on how many calls of a day svc.identify and svc.verify matched it, for 90 days. The page of the person shows it. The counts show when a person was present: the privacy guide lists what to decide first. Off: the counts are deleted.',
  ],
  billing: [
    'Billing',
    'Charges calls to the budget, and rejects them when it is exhausted. Off: calls are metered in the request log and never rejected for a budget.',
  ],
}

const switchNames = Object.keys(switchTexts) as readonly SwitchName[]

/** Switches whose end deletes data, or leaves data that is deleted later. */
const confirmedOff = new Set<SwitchName>([
  'storeCrops',
  'unknownPeople',
  'nearMissCrops',
  'matchDays',
])

/** Whether a change of this switch is confirmed first. */
function requiresConfirmation(name: SwitchName, isOn: boolean): boolean {
  return name === 'billing' || (confirmedOff.has(name) && !isOn)
}

const nearMissesOff = { switches: { nearMissCrops: false } } as const

/** The optional features of a project. */
export function ProjectSwitches({ project }: { readonly project: ConsoleProject }) {
  const mayWrite = useHasRole('admin')
  const [toConfirm, setToConfirm] = useState<SwitchName>()
  const undo = useUndoChange(project)
  const close = (): void => setToConfirm(undefined)
  const { save, isPending, error } = useSaveProject(project, {
    onSuccess: (saved, change) => {
      close()
      const [[name, isOn] = []] = Object.entries(change.switches ?? {}) as [SwitchName, boolean][]
      if (name === undefined) return
      const [label] = switchTexts[name]
      showUndo({
        message: `${label} is ${isOn ? 'on' : 'off'}.`,
        undo: () => undo(saved, change),
        undoneMessage: `${label} is ${saved.replaced.switches?.[name] ? 'on' : 'off'} again.`,
      })
    },
  })
  return (
    <Stack>
      {switchNames.map((name) => {
        const [label, description] = switchTexts[name]
        return (
          <Switch
            key={name}
            label={label}
            description={description}
            disabled={!mayWrite || isPending}
            checked={project.switches[name]}
            onChange={({ currentTarget: { checked } }) => {
              if (requiresConfirmation(name, checked)) setToConfirm(name)
              else save({ switches: { [name]: checked } })
            }}
          />
        )
      })}
      {!toConfirm && <ErrorNotice title="Couldn't save setting" error={error} />}
      {toConfirm === 'storeCrops' && <StopStoringCropsDialog project={project} onClose={close} />}
      {toConfirm === 'unknownPeople' && (
        <StopStoringVisitorsDialog project={project} onClose={close} />
      )}
      {toConfirm === 'nearMissCrops' && (
        <ChangeRetentionDialog
          project={project}
          change={nearMissesOff}
          isPending={isPending}
          error={error}
          onConfirm={(confirmedLosses) => save({ ...nearMissesOff, confirmedLosses })}
          onClose={close}
        />
      )}
      {toConfirm === 'matchDays' && <StopCountingMatchesDialog project={project} onClose={close} />}
      {toConfirm === 'billing' && <SwitchBillingDialog project={project} onClose={close} />}
    </Stack>
  )
}

import { Button, Group, NumberInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { errorWithoutFields, showFieldErrors } from '../api/field-errors.ts'
import type { ConsoleProject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { ApiError, fieldNameOf } from '../api/api-error.ts'
import { showUndo } from '../components/confirm/undo-notification.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { changedValues } from '../forms/stored-values.ts'
import { useStoredValues } from '../forms/use-stored-values.ts'
import { useSaveProject, useUndoChange, type ProjectPatch } from './project-change.ts'
import { ChangeRetentionDialog } from './change-retention-dialog.tsx'
import { ChangeThresholdDialog } from './change-threshold-dialog.tsx'
import { ThresholdSlider } from './threshold-effect.tsx'

/** The value of an empty Mantine number field is a string. */
type NumberInputValue = number | string

type ProjectFormValues = {
  readonly name: string
  readonly sustainedPerS: NumberInputValue
  readonly burst: NumberInputValue
  readonly retentionDays: NumberInputValue
  readonly visitorRetentionDays: NumberInputValue
  readonly identifyThreshold: NumberInputValue
  readonly nearMissHours: NumberInputValue
}

type ProjectForm = {
  readonly getValues: () => ProjectFormValues
  readonly getInputProps: (field: keyof ProjectFormValues) => object
  readonly setFieldValue: (field: 'identifyThreshold', value: number) => void
}

const fieldNames = {
  name: 'name',
  sustainedPerS: 'sustainedPerS',
  burst: 'burst',
  retentionDays: 'retentionDays',
  visitorRetentionDays: 'visitorRetentionDays',
  identifyThreshold: 'identifyThreshold',
  nearMissHours: 'nearMissHours',
}

/**
 * Edits the name, limits and defaults of a project. An empty field uses the service default. Only
 * changed fields are sent.
 */
export function ProjectSettingsForm({ project }: { readonly project: ConsoleProject }) {
  const mayWrite = useHasRole('admin')
  const [toConfirm, setToConfirm] = useState<Confirmation>()
  const form = useForm<ProjectFormValues>({
    initialValues: valuesOf(project),
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name' : null),
      identifyThreshold: (value) =>
        value === '' || isThreshold(value) ? null : 'Enter a number from 0 to 1',
      visitorRetentionDays: (value) =>
        Number(value) >= 1 && Number(value) <= 90 ? null : 'Enter a number from 1 to 90',
      nearMissHours: (value) =>
        Number(value) >= 1 && Number(value) <= 72 ? null : 'Enter a number from 1 to 72',
    },
  })
  useStoredValues(form, valuesOf(project))
  const undo = useUndoChange(project)
  const { save, isPending, error } = useSaveProject(project, {
    onError: (cause, change) => {
      if (needsThreshold(cause)) setToConfirm({ change, reason: 'threshold' })
      else showFieldErrors(form, cause, fieldNames)
    },
    onSuccess: (saved, change) => {
      setToConfirm(undefined)
      showUndo({
        message: 'Settings saved. They apply to new calls.',
        undo: () => undo(saved, change),
        undoneMessage: 'The earlier settings apply again.',
      })
    },
  })
  const submit = (values: ProjectFormValues): void => {
    const change = changedValues(toSettings(form.getInitialValues()), toSettings(values))
    if (Object.keys(change).length === 0) notifications.show({ message: 'Nothing was changed.' })
    else if (isRetentionShorter(project, change)) setToConfirm({ change, reason: 'retention' })
    else save(change)
  }
  return (
    <>
      <form onSubmit={form.onSubmit(submit)}>
        <fieldset disabled={!mayWrite} className="fg-fieldset">
          <Stack>
            <SettingFields project={project} form={form} isDisabled={!mayWrite} />
            {!toConfirm && (
              <ErrorNotice
                title="Couldn't save settings"
                error={errorWithoutFields(error, fieldNames)}
              />
            )}
            {mayWrite && (
              <Group justify="flex-end">
                <Button type="submit" loading={isPending}>
                  Save
                </Button>
              </Group>
            )}
          </Stack>
        </fieldset>
      </form>
      {toConfirm && (
        <ConfirmChange
          project={project}
          {...toConfirm}
          isPending={isPending}
          error={error}
          onConfirm={save}
          onClose={() => setToConfirm(undefined)}
        />
      )}
    </>
  )
}

/** A change that waits for a confirmation. */
type Confirmation = {
  readonly change: ProjectPatch
  readonly reason: 'threshold' | 'retention'
}

type ConfirmChangeProps = Confirmation & {
  readonly project: ConsoleProject
  readonly isPending: boolean
  readonly error: unknown
  readonly onConfirm: (confirmed: ProjectPatch) => void
  readonly onClose: () => void
}

/** Confirms an unusual threshold or a shorter retention. */
function ConfirmChange({ change, reason, error, onConfirm, ...props }: ConfirmChangeProps) {
  if (reason === 'threshold')
    return (
      <ChangeThresholdDialog
        {...props}
        threshold={change.identifyThreshold ?? 0}
        error={needsThreshold(error) ? undefined : error}
        onConfirm={() => onConfirm(confirmThreshold(change))}
      />
    )
  return (
    <ChangeRetentionDialog
      {...props}
      change={change}
      error={error}
      onConfirm={(confirmedLosses) => onConfirm({ ...change, confirmedLosses })}
    />
  )
}

function SettingFields({
  project,
  form,
  isDisabled,
}: {
  readonly project: ConsoleProject
  readonly form: ProjectForm
  readonly isDisabled: boolean
}) {
  const { identifyThreshold: threshold } = form.getValues()
  return (
    <>
      <TextInput label="Name" required {...form.getInputProps('name')} />
      <NumberInput
        label="Sustained limit (requests per second)"
        description="Average requests per second allowed. Calls above the limit return RATE_LIMITED."
        placeholder={`Default: ${project.sustainedPerS}`}
        min={1}
        max={10_000}
        allowDecimal={false}
        {...form.getInputProps('sustainedPerS')}
      />
      <NumberInput
        label="Burst limit (requests)"
        description="Maximum number of requests allowed immediately after a pause."
        placeholder={`Default: ${project.burst}`}
        min={1}
        max={100_000}
        allowDecimal={false}
        {...form.getInputProps('burst')}
      />
      <NumberInput
        label="svc.identify threshold"
        description="0 to 1. Leave empty to derive it from the gallery size. The threshold of a call takes precedence."
        placeholder="Automatic"
        min={0}
        max={1}
        step={0.01}
        decimalScale={4}
        clampBehavior="none"
        {...form.getInputProps('identifyThreshold')}
      />
      <ThresholdSlider
        project={project}
        threshold={isThreshold(threshold) ? Number(threshold) : undefined}
        isDisabled={isDisabled}
        onChange={(value) => form.setFieldValue('identifyThreshold', value)}
      />
      <NumberInput
        label="Subject retention (days)"
        description="Automatically delete subjects with no activity for this many days."
        placeholder={`Default: ${project.retentionDays}`}
        min={1}
        max={36_500}
        allowDecimal={false}
        {...form.getInputProps('retentionDays')}
      />
      <NumberInput
        label="Visitor retention (days)"
        description="Automatically delete unknown people without another picture for this many days."
        min={1}
        max={90}
        allowDecimal={false}
        {...form.getInputProps('visitorRetentionDays')}
      />
      <NumberInput
        label="Pictures of near misses (hours)"
        description="How long they are kept while the switch is on. A shorter time also applies to stored pictures."
        min={1}
        max={72}
        allowDecimal={false}
        {...form.getInputProps('nearMissHours')}
      />
    </>
  )
}

function valuesOf(project: ConsoleProject): ProjectFormValues {
  return {
    name: project.name,
    sustainedPerS: project.isSustainedDefault ? '' : project.sustainedPerS,
    burst: project.isBurstDefault ? '' : project.burst,
    retentionDays: project.isRetentionDefault ? '' : project.retentionDays,
    visitorRetentionDays: project.visitorRetentionDays,
    identifyThreshold: project.identifyThreshold ?? '',
    nearMissHours: project.nearMissHours,
  }
}

function toSettings({ name, ...numbers }: ProjectFormValues) {
  const numberOf = (entry: NumberInputValue): number | null => (entry === '' ? null : Number(entry))
  return {
    name: name.trim(),
    sustainedPerS: numberOf(numbers.sustainedPerS),
    burst: numberOf(numbers.burst),
    retentionDays: numberOf(numbers.retentionDays),
    visitorRetentionDays: Number(numbers.visitorRetentionDays),
    identifyThreshold: numberOf(numbers.identifyThreshold),
    nearMissHours: Number(numbers.nearMissHours),
  }
}

/** The default is only known to the server, so a change to it is always confirmed. */
function isRetentionShorter(project: ConsoleProject, change: ProjectPatch): boolean {
  const { retentionDays, visitorRetentionDays = project.visitorRetentionDays } = change
  if (visitorRetentionDays < project.visitorRetentionDays) return true
  if (project.switches.nearMissCrops && (change.nearMissHours ?? 72) < project.nearMissHours)
    return true
  return retentionDays !== undefined && (retentionDays ?? 0) < project.retentionDays
}

function isThreshold(value: NumberInputValue): boolean {
  return value !== '' && Number(value) >= 0 && Number(value) <= 1
}

/** Whether the server refused a change because its threshold must be repeated. */
function needsThreshold(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    error.problems.some(({ path }) => fieldNameOf(path) === 'confirmedThreshold')
  )
}

function confirmThreshold(change: ProjectPatch): ProjectPatch {
  const { identifyThreshold } = change
  if (typeof identifyThreshold !== 'number') return change
  return { ...change, confirmedThreshold: identifyThreshold }
}

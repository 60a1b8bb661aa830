import { Button, Group, JsonInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useEffect, useRef } from 'react'
import type { ConsoleSubject } from '../api/responses.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { attributesPatch } from '../forms/attributes-patch.ts'
import { useStoredValues } from '../forms/use-stored-values.ts'
import { pickerFromUtc, utcFromPicker } from '../format/picker-utc.ts'
import { UtcDateTimePicker } from '../forms/utc-date-time-picker.tsx'
import { GroupPicker, groupProblem } from './subjects/group-picker.tsx'

type Props = {
  readonly projectId: string
  readonly subject: ConsoleSubject
  readonly isEditable: boolean
}

type SubjectFormValues = {
  readonly displayName: string
  readonly externalId: string
  readonly groups: string[]
  readonly attributes: string
  readonly expires: string | null
}

/**
 * Edits the names, groups, attributes and expiry of a subject. Only changed fields are sent, and what
 * another user changes meanwhile appears in the others.
 */
export function EditSubjectForm({ projectId, subject, isEditable }: Props) {
  const save = useApiMutation({
    method: 'PATCH',
    path: '/projects/:projectId/subjects/:subjectId',
    onSuccess: (saved) => {
      form.setValues(valuesOf(saved))
      notifications.show({ message: 'Subject saved.' })
    },
  })
  const form = useForm<SubjectFormValues>({
    initialValues: valuesOf(subject),
    validate: {
      attributes: (text) => (isJsonObject(text) ? null : 'Enter a JSON object'),
      groups: (names) => groupProblem(names) ?? null,
    },
  })
  const editedAttributes = useEditedAttributes(subject, form.isDirty('attributes'))
  useStoredValues(form, valuesOf(subject))
  const submit = (values: SubjectFormValues): void => {
    const attributes = attributesPatch(editedAttributes(), JSON.parse(values.attributes))
    const body = { ...changesOf(subject, values), ...(attributes && { attributes }) }
    const pathParams = { projectId, subjectId: subject.subjectId }
    if (Object.keys(body).length === 0) notifications.show({ message: 'Nothing was changed.' })
    else save.mutate({ pathParams, body })
  }
  return (
    <form onSubmit={form.onSubmit(submit)}>
      <fieldset className="fg-fieldset" disabled={!isEditable}>
        <Stack gap="sm">
          <TextInput size="xs" label="Display name" {...form.getInputProps('displayName')} />
          <TextInput size="xs" label="External id" {...form.getInputProps('externalId')} />
          <GroupPicker
            projectId={projectId}
            label="Groups"
            value={form.values.groups}
            onChange={(groups) => form.setFieldValue('groups', groups)}
          />
          <JsonInput
            size="xs"
            label="Attributes"
            autosize
            minRows={2}
            {...form.getInputProps('attributes')}
          />
          <UtcDateTimePicker
            size="xs"
            label="Expires (UTC)"
            clearable
            clearButtonProps={{ 'aria-label': 'Never' }}
            {...form.getInputProps('expires')}
          />
          <ErrorNotice title="Couldn't save subject" error={save.error} />
          {isEditable && (
            <Group justify="flex-end">
              <Button type="submit" size="xs" loading={save.isPending}>
                Save
              </Button>
            </Group>
          )}
        </Stack>
      </fieldset>
    </form>
  )
}

/** Returns a function that returns the attributes from which the user edits the text. */
function useEditedAttributes({ attributes }: ConsoleSubject, isDirty: boolean) {
  const edited = useRef(attributes)
  useEffect(() => {
    if (!isDirty) edited.current = attributes
  })
  return () => edited.current
}

/** What the form shows of a subject. */
type StoredValues = Pick<
  ConsoleSubject,
  'displayName' | 'externalId' | 'groups' | 'attributes' | 'expiresAtUtc'
>

function valuesOf(subject: StoredValues): SubjectFormValues {
  return {
    displayName: subject.displayName ?? '',
    externalId: subject.externalId ?? '',
    groups: [...subject.groups],
    attributes: JSON.stringify(subject.attributes, undefined, 2),
    expires: subject.expiresAtUtc ? pickerFromUtc(subject.expiresAtUtc) : null,
  }
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

function changesOf(
  subject: ConsoleSubject,
  values: SubjectFormValues,
): Readonly<Record<string, unknown>> {
  const { displayName, externalId, groups, expires } = values
  const expiresAtUtc = expires === null ? null : utcFromPicker(expires)
  const addGroups = groups.filter((group) => !subject.groups.includes(group))
  const removeGroups = subject.groups.filter((group) => !groups.includes(group))
  const previousExpiresAtUtc =
    subject.expiresAtUtc && utcFromPicker(pickerFromUtc(subject.expiresAtUtc))
  return {
    ...(displayName !== (subject.displayName ?? '') && { displayName: displayName || null }),
    ...(externalId !== (subject.externalId ?? '') && { externalId: externalId || null }),
    ...(addGroups.length > 0 && { addGroups }),
    ...(removeGroups.length > 0 && { removeGroups }),
    ...(expiresAtUtc !== previousExpiresAtUtc && { expiresAtUtc }),
  }
}

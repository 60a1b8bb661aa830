import { Checkbox, Input, Select, Stack, Text } from '@mantine/core'
import type { ConsolePermission } from '../api/responses.ts'
import { permissionPresets, presetOf } from './permission-presets.ts'

type Props = {
  readonly available: readonly ConsolePermission[]
  readonly value: readonly string[]
  readonly error?: string | undefined
  readonly onChange: (permissions: string[]) => void
}

/** Selects the permissions of a key, one by one or with a preset. */
export function PermissionFields({ available, value, error, onChange }: Props) {
  const names = available.map(({ permission }) => permission)
  const preset = presetOf(value, available)
  return (
    <>
      <Select
        label="Preset"
        description={
          preset
            ? `${preset.purpose} Permissions: ${value.join(', ')}.`
            : 'Selects the permissions for a kind of program. You can change them below.'
        }
        placeholder="Custom permissions"
        data={permissionPresets.map(({ name }) => name)}
        renderOption={({ option: { value: name } }) => (
          <PresetOption name={name} permissions={presetPermissions(name, names)} />
        )}
        value={preset?.name ?? null}
        allowDeselect={false}
        onChange={(name) => {
          if (name !== null) onChange([...presetPermissions(name, names)])
        }}
      />
      <Checkbox.Group label="Permissions" required value={[...value]} onChange={onChange}>
        <Stack gap={6} mt={6}>
          {available.map(({ permission, summary }) => (
            <Checkbox
              key={permission}
              value={permission}
              label={permission}
              description={summary}
            />
          ))}
        </Stack>
        {error && <Input.Error mt="xs">{error}</Input.Error>}
      </Checkbox.Group>
    </>
  )
}

function presetPermissions(name: string, all: readonly string[]): readonly string[] {
  return permissionPresets.find((preset) => preset.name === name)?.select(all) ?? []
}

type PresetOptionProps = { readonly name: string; readonly permissions: readonly string[] }

function PresetOption({ name, permissions }: PresetOptionProps) {
  return (
    <div>
      <Text size="sm">{name}</Text>
      <Text size="xs" c="dimmed">
        {permissions.join(', ')}
      </Text>
    </div>
  )
}

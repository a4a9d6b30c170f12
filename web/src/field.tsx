// SPDX-License-Identifier: BSD-3-Clause
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** A text field whose value holds after Enter or when it is left. */
export function Field(props: { label: string; value: string; placeholder: string; title: string; onChange: (value: string) => void; id?: string; class?: string }): JSX.Element {
  const [text, setText] = useState(props.value);
  useEffect(() => setText(props.value), [props.value]);
  const done = (): void => {
    if (text.trim() !== props.value) props.onChange(text.trim());
  };
  return (
    <input
      type="text" id={props.id} class={props.class} aria-label={props.label} placeholder={props.placeholder} title={props.title} value={text} spellcheck={false} autocomplete="off"
      onInput={(event) => setText(event.currentTarget.value)} onBlur={done}
      onKeyDown={(event) => {
        if (event.key === 'Enter') done();
        else if (event.key === 'Escape') {
          setText('');
          if (props.value !== '') props.onChange('');
          event.currentTarget.blur();
        }
      }}
    />
  );
}

// Shows a component as a view. The bundles of views in `.tsx` contain it.
import { h, render } from "preact";
import { connect } from "toolbooth/view";

export function show(Component) {
  const view = connect();
  const draw = ({ input, result, error, host }) => render(h(Component, { view, input, result, error, host }), document.body);
  view.onChange(draw);
  draw(view);
}

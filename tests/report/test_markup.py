from latopo.report.markup import Markup, join, tag


def test_text_is_escaped_and_markup_is_not():
    assert tag("p", "<b>", tag("b", '"&"')) == "<p>&lt;b&gt;<b>&quot;&amp;&quot;</b></p>"
    assert join(["<", [Markup("<br>"), ["<"]]]) == "&lt;<br>&lt;"


def test_attributes_are_escaped():
    assert tag("td", title='"><script>') == '<td title="&quot;&gt;&lt;script&gt;"></td>'
    assert tag("input", disabled=True, checked=False, data_node=0) == '<input disabled data-node="0">'
